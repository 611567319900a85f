import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";

const cli = path.join(import.meta.dirname, "..", "..", "..", "cli.ts");

/** Prints what the program got. */
const REPORT = `
  const fs = require("node:fs");
  const { KUBECONFIG } = process.env;
  const modes = [KUBECONFIG, require("node:path").dirname(KUBECONFIG)].map((one) => fs.statSync(one).mode & 0o777);
  const files = fs.existsSync("/proc/self/fd") ? fs.readdirSync("/proc/self/fd").filter((one) => Number(one) > 2) : [];
  const links = files.map((one) => { try { return fs.readlinkSync("/proc/self/fd/" + one); } catch { return ""; } });
  console.log(JSON.stringify({ env: process.env, args: process.argv.slice(1), modes, text: fs.readFileSync(KUBECONFIG, "utf8"), links }));
`;

interface Report {
  readonly env: Record<string, string>;
  readonly args: readonly string[];
  readonly modes: readonly number[];
  readonly text: string;
  readonly links: readonly string[];
}

suite("the environment of binnacle run -- PROGRAM", { timeout: 300_000 }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-run-test-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (program: readonly string[], env: Record<string, string>) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const args = [cli, "run", "--store", "memory", "--", ...program];
      execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  const base = () => ({ PATH: path.dirname(process.execPath), HOME: folder, TMPDIR: folder });

  /** What a cloned repository may contain. */
  const plant = async () => {
    const theirs =
      "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: https://theirs.example.com}}]\n";
    for (const place of ["binnacle-data", ".kube"])
      await mkdir(path.join(folder, place), { recursive: true, mode: 0o700 });
    for (const file of ["binnacle-data/kubeconfig", ".kube/config", "kubeconfig"])
      await writeFile(path.join(folder, file), theirs, { mode: 0o600 });
    await writeFile(path.join(folder, "binnacle-data/admin-token"), "theirs\n", { mode: 0o600 });
    await writeFile(path.join(folder, ".env"), "KUBECONFIG=/theirs\nNODE_OPTIONS=--require=./theirs.cjs\nSECRET=1\n");
    await writeFile(path.join(folder, "theirs.cjs"), "process.exit(9);\n");
    const program = path.join(folder, path.basename(process.execPath));
    await writeFile(program, "#!/bin/sh\nexit 9\n");
    await chmod(program, 0o700);
  };

  test("is that of the caller, with another KUBECONFIG and nothing else", async () => {
    await plant();
    const env = { ...base(), KUBECONFIG: path.join(folder, "kubeconfig"), ODD: "a\nb=c;$(touch x)" };
    const words = ["$(touch injected)", "; touch injected", "a\nb", "", "--flag"];
    const { code, stdout, stderr } = await run(["node", "-e", REPORT, "--", ...words], env);
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    const { KUBECONFIG = "", ...others } = report.env;
    const { KUBECONFIG: _, ...given } = env;
    assert.deepEqual(others, given);
    assert.deepEqual(report.args, words);
    assert.match(KUBECONFIG, /\/binnacle-run-\w+\/kubeconfig$/);
    assert.doesNotMatch(report.text, /theirs/);
    assert.match(report.text, /server: "?https:\/\/127\.0\.0\.1:\d+/);
    if (process.platform !== "win32") assert.deepEqual(report.modes, [0o600, 0o700]);
    assert.ok(!existsSync(path.join(folder, "injected")), "no shell has read the arguments");
    assert.ok(!existsSync(path.dirname(KUBECONFIG)), "the credentials are deleted when the program ends");
    const sockets = report.links.filter((link) => /^(socket|\/.*binnacle-run-)/.test(link));
    assert.deepEqual(sockets, [], "the program inherits no socket and no file of the server");
  });

  test("does not find programs in the working directory", async () => {
    await plant();
    const empty = path.join(folder, "empty");
    await mkdir(empty, { recursive: true });
    const { code, stderr } = await run([path.basename(process.execPath)], { ...base(), PATH: empty });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /program not found/);
  });
});
