import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { runCommandLine } from "./command-line.ts";
import { silentIo } from "./io.suite.ts";
import { readServerAccess } from "./server-access.ts";

suite("the kubeconfig of a command", () => {
  let cwd: string;
  before(async () => {
    cwd = await mkdtemp(path.join(tmpdir(), "binnacle-access-"));
  });
  after(() => rm(cwd, { recursive: true, force: true }));

  /** Writes a kubeconfig whose server has the name of the place. */
  async function write(name: string): Promise<string> {
    const file = path.join(cwd, name);
    await mkdir(path.dirname(file), { recursive: true });
    const server = `https://${name.replaceAll(/\W/g, "-")}.example`;
    await writeFile(file, printKubeconfig({ server, authority: "", user: { token: "t" } }));
    return file;
  }

  const hostOf = async (flag: string | undefined, env: Record<string, string>) =>
    (await readServerAccess(flag, { cwd, env })).server.hostname;

  test("is the flag, else $KUBECONFIG, else that of the data folder, else ~/.kube/config", async () => {
    const home = path.join(cwd, "home");
    const env = { HOME: home };
    const tried = [path.join(cwd, "binnacle-data", "kubeconfig"), path.join(home, ".kube", "config")].join(", ");
    await assert.rejects(hostOf(undefined, env), { message: `no kubeconfig found; tried ${tried}` });
    await write("home/.kube/config");
    assert.equal(await hostOf(undefined, env), "home--kube-config.example");
    await write("binnacle-data/kubeconfig");
    assert.equal(await hostOf(undefined, env), "binnacle-data-kubeconfig.example");
    await write("other/kubeconfig");
    const other = { ...env, BINNACLE_DATA_DIR: path.join(cwd, "other") };
    assert.equal(await hostOf(undefined, other), "other-kubeconfig.example");
    const KUBECONFIG = ["/nonexistent", await write("variable")].join(path.delimiter);
    assert.equal(await hostOf(undefined, { ...other, KUBECONFIG }), "variable.example");
    await write("flag");
    assert.equal(await hostOf("flag", { ...env, KUBECONFIG }), "flag.example");
  });

  test("without a current context is an error with a hint", async () => {
    const KUBECONFIG = path.join(cwd, "empty");
    await writeFile(KUBECONFIG, "apiVersion: v1\nkind: Config\n");
    const io = silentIo({ KUBECONFIG }, cwd);
    assert.equal(await runCommandLine(["export"], io), 1);
    assert.equal(
      io.err(),
      `binnacle: kubeconfig ${KUBECONFIG}: has no context in use\n  Start a server: binnacle up --detach. For another server, use --kubeconfig FILE.\n`,
    );
  });

  const commands = [
    ["export"],
    ["auth", "explain", "--as", "alice", "get", "pods"],
    ["explain-admission", "-f", "pod.yaml"],
  ];
  for (const [name = "", ...args] of commands) {
    test(`of ${name} is $KUBECONFIG, and a missing file is named with it`, async () => {
      const io = silentIo({ KUBECONFIG: "/nonexistent/config", HOME: cwd }, cwd);
      assert.equal(await runCommandLine([name, ...args], io), 1);
      assert.match(io.err(), /^binnacle: KUBECONFIG=\/nonexistent\/config: no such file\n {2}Start a server: /);
    });
  }

  test("explain-admission names a missing manifest", async () => {
    const io = silentIo({ KUBECONFIG: await write("variable") }, cwd);
    assert.equal(await runCommandLine(["explain-admission", "-f", "missing.yaml"], io), 1);
    assert.equal(io.err(), "binnacle: --filename missing.yaml: no such file or folder\n");
  });
});
