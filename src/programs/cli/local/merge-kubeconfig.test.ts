import assert from "node:assert/strict";
import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, suite, test } from "node:test";
import { printKubeconfig } from "../../../data/kubeconfig/kubeconfig.ts";
import { Failure } from "../command.ts";
import { changeKubeconfig, mergeKubeconfig, removeFrom, stepBack, usualKubeconfig } from "./merge-kubeconfig.ts";

const FOREIGN = `apiVersion: v1
kind: Config
preferences:
  colors: true
x-unknown: [1, {deep: "007"}]
clusters:
- name: prod
  cluster: {server: "https://prod.example.com", extensions: [{name: e, extension: {a: b}}]}
users:
- name: me
  user: {exec: {command: login, args: ["--yes"]}}
contexts:
- name: prod
  context: {cluster: prod, user: me, namespace: shop}
current-context: prod
`;

suite("merging a kubeconfig", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-merge-"));
  after(() => rm(folder, { recursive: true }));
  const at = (name: string) => path.join(folder, name);
  const own = at("own");
  await writeFile(own, printKubeconfig({ server: "https://127.0.0.1:6443", authority: "PEM", user: { token: "t" } }));

  test("creates a missing file with mode 0600", async () => {
    const file = at("new/config");
    assert.deepEqual(await mergeKubeconfig(file, own, "mine"), { file, context: "mine" });
    const text = await readFile(file, "utf8");
    assert.match(text, /^current-context: mine$/m);
    assert.match(text, /server: https:\/\/127\.0\.0\.1:6443/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test("keeps existing and unknown members, and can be undone", async () => {
    const file = at("foreign");
    await writeFile(file, FOREIGN, { mode: 0o640 });
    const merged = await mergeKubeconfig(file, own, "binnacle");
    assert.deepEqual(merged, { file, context: "binnacle", previous: "prod" });
    await mergeKubeconfig(file, own, "binnacle");
    const text = await readFile(file, "utf8");
    assert.equal(text.match(/^- cluster:$|name: binnacle$/gm)?.filter((line) => line.endsWith("binnacle")).length, 3);
    for (const kept of ["command: login", "--yes", 'deep: "007"', "colors: true", "namespace: shop", "a: b"]) {
      assert.ok(text.includes(kept), `${kept} in\n${text}`);
    }
    assert.equal((await stat(file)).mode & 0o777, 0o640);
    await changeKubeconfig(file, (known) => stepBack(known, "binnacle", "prod"));
    assert.match(await readFile(file, "utf8"), /^current-context: prod$/m);
    const before = await readFile(file, "utf8");
    await changeKubeconfig(file, (known) => stepBack(known, "binnacle", "prod"));
    assert.equal(await readFile(file, "utf8"), before);
    await changeKubeconfig(file, (known) => removeFrom(known, "binnacle", "prod"));
    assert.ok(!(await readFile(file, "utf8")).includes("binnacle"));
  });

  for (const [what, text] of [
    ["broken YAML", "clusters: [\n"],
    ["a list", "- a\n"],
    ["clusters that are not a list", "clusters: {a: b}\n"],
    ["two documents", `${FOREIGN}---\n${FOREIGN}`],
    ["a duplicate member", "kind: Config\nkind: Config\n"],
  ] as const) {
    test(`does not change ${what}`, async () => {
      const file = at("broken");
      await writeFile(file, text);
      await assert.rejects(mergeKubeconfig(file, own, "binnacle"), (error) => {
        assert.ok(error instanceof Failure);
        assert.ok(error.message.startsWith(`${file}: not changed, because it `), error.message);
        assert.match(error.next ?? "", /binnacle kubeconfig --path/);
        return true;
      });
      assert.equal(await readFile(file, "utf8"), text);
      assert.ok(!(await readdir(folder)).some((name) => name.endsWith(".lock")));
    });
  }

  test("follows a symbolic link instead of replacing it", async () => {
    const [file, link] = [at("real"), at("link")];
    await writeFile(file, FOREIGN);
    await symlink(file, link);
    await mergeKubeconfig(link, own, "binnacle");
    assert.ok((await lstat(link)).isSymbolicLink());
    assert.match(await readFile(file, "utf8"), /current-context: binnacle/);
  });

  test("writes to the file that kubectl would write to", () => {
    assert.equal(usualKubeconfig({ env: { HOME: "/home/me" } }), "/home/me/.kube/config");
    assert.equal(usualKubeconfig({ env: { HOME: "/home/me", KUBECONFIG: ":/a:/b" } }), "/a");
  });
});
