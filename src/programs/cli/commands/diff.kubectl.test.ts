import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { needs } from "../../../../test/support/tools.ts";
import { runCommandLine } from "../command-line.ts";
import { silentIo } from "../io.suite.ts";

suite("binnacle diff", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-diff-"));
    await mkdir(path.join(folder, "overlay"));
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
    await write("overlay/kustomization.yaml", "namePrefix: prod-\nresources: [map.yaml]\n");
    await write("overlay/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: default}\n");
    await write(
      "state.yaml",
      "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: default}\nspec: {hard: {configmaps: '0'}}\n",
    );
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(env: Readonly<Record<string, string | undefined>>, ...args: string[]) {
    const io = silentIo(env, folder);
    const code = await runCommandLine(["diff", ...args], io);
    return { code, out: io.out(), err: io.err() };
  }

  test("-k builds a kustomization", needs("kubectl"), async () => {
    const { code, out, err } = await run(process.env, "-k", "overlay");
    assert.deepEqual([code, err], [1, ""]);
    assert.match(out, /^1 created, .*\n\nConfigMap default\/prod-m would be created\n$/);
    const wrong = await run(process.env, "-k", ".");
    assert.equal(wrong.code, 3);
    assert.match(wrong.err, /^binnacle: --kustomize=\.: .*unable to find one of 'kustomization\.yaml'/);
  });

  test("-k says what it needs without kubectl and kustomize", async () => {
    const { code, err } = await run({ PATH: folder }, "-k", "overlay");
    assert.equal(code, 3);
    assert.match(
      err,
      /^binnacle: --kustomize=overlay: needs kubectl or kustomize, and neither is in a folder of PATH\n/,
    );
    assert.match(err, /\n {2}Install kubectl \(https:/);
  });

  test("needs manifests", async () => {
    const { code, err } = await run({});
    assert.equal(code, 3);
    assert.match(err, /^binnacle: flag --filename or --kustomize is required\n/);
  });

  test("--strict fails if a quota was not enforced", async () => {
    const map = path.join(folder, "overlay", "map.yaml");
    const state = path.join(folder, "state.yaml");
    const flags = ["-f", map, "--state", state];
    const enforced = await run({}, ...flags, "--strict");
    assert.deepEqual([enforced.code, enforced.err], [2, ""]);
    const lenient = await run({}, ...flags, "--controllers", "none");
    assert.equal(lenient.code, 1);
    assert.match(lenient.err, /^binnacle: warning: ResourceQuota default\/few was not enforced/);
    const strict = await run({}, ...flags, "--controllers", "none", "--strict");
    assert.equal(strict.code, 3);
  });
});
