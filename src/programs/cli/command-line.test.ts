import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { flagTypes } from "../envtest/apiserver-flags.ts";
import { runCommandLine } from "./command-line.ts";
import { addServeFlags } from "./flags/serve-flags.ts";
import { silentIo } from "./io.suite.ts";
import { COMMANDS } from "./table.ts";

async function run(...args: string[]) {
  const io = silentIo();
  const code = await runCommandLine(args, io);
  return { code, out: io.out(), err: io.err() };
}

suite("the command line", () => {
  test("lists every command, also without arguments", async () => {
    const { code, out } = await run();
    assert.equal(code, 0);
    assert.match(
      out,
      /^An API server that is wire-compatible[\s\S]*Examples:[\s\S]*\n {2}binnacle up\n[\s\S]*Usage:[\s\S]*docs\/README\.md/,
    );
    for (const { name, summary } of COMMANDS)
      assert.ok(out.includes(`${name} `) && out.includes(summary.slice(0, 30)), name);
    assert.equal((await run("--help")).out, out);
    assert.equal((await run("help")).out, out);
  });

  for (const { name } of COMMANDS) {
    test(`${name} --help begins with examples`, async () => {
      const { code, out } = await run(name, "--help");
      assert.equal(code, 0);
      assert.ok(out.indexOf("Examples:") >= 0 && out.indexOf("Examples:") < out.indexOf("Usage:"), out);
      assert.ok(out.includes(`binnacle ${name}`), out);
      assert.equal((await run("help", name)).out, out);
    });
  }

  test("rejects an unknown command with a suggestion, also with --help", async () => {
    for (const args of [["statsu"], ["statsu", "--help"], ["help", "statsu"], ["statsu", "-h", "--output=json"]]) {
      const { code, out, err } = await run(...args);
      assert.deepEqual([code, out], [1, ""], args.join(" "));
      assert.equal(err, "binnacle: unknown command: statsu\n  Did you mean status? See: binnacle --help\n");
    }
    const nested = await run("auth", "explian", "--help");
    assert.equal(nested.code, 1);
    assert.match(nested.err, /^binnacle: unknown command: explian\n {2}Did you mean explain\?/);
  });

  test("names a flag of kube-apiserver that is not supported, and where to read about it", async () => {
    const serve = new Command();
    addServeFlags(serve);
    const supported = serve.options.map(({ long }) => long);
    const flag = [...flagTypes.keys()].map((name) => `--${name}`).find((name) => !supported.includes(name));
    for (const command of ["serve", "up", "run"]) {
      const { code, err } = await run(command, `${flag}=x`);
      assert.equal(code, 1);
      assert.equal(
        err,
        `binnacle: ${flag}: this flag of kube-apiserver is not supported\n` +
          "  Remove it. docs/compatibility.md lists what differs from kube-apiserver, docs/reference/flags.md every flag.\n",
      );
    }
  });

  test("prints commands in hints as the user would type them", async () => {
    const io = { ...silentIo({}, "/nonexistent"), program: "npx binnacle" };
    assert.equal(await runCommandLine(["logs"], io), 1);
    assert.match(io.err(), /\n {2}Only a server in the background writes one: npx binnacle up --detach\n$/);
    assert.equal(await runCommandLine(["status"], io), 3);
    assert.match(io.out(), /\n {2}Start one: npx binnacle up --detach\n$/);
    assert.equal(await runCommandLine(["down", "--help"], io), 0);
    assert.match(io.out(), /^ {2}npx binnacle down$/m);
  });

  test("prints the subcommands of a command without a subcommand, and fails", async () => {
    const { code, err } = await run("auth");
    assert.equal(code, 1);
    assert.match(err, /explain/);
  });

  test("parses the value of a switch like kube-apiserver", async () => {
    const folder = "/nonexistent/folder";
    assert.match((await run("kubeconfig", "--data-dir", folder, "--path=1")).err, /^binnacle: no kubeconfig found in/);
    assert.match((await run("kubeconfig", "--data-dir", folder, "--merge=F")).err, /^binnacle: no kubeconfig found in/);
    const { code, err } = await run("kubeconfig", "--merge=maybe");
    assert.equal(code, 1);
    assert.equal(err, "binnacle: --merge=maybe: expected true or false\n  See: binnacle kubeconfig --help\n");
  });

  test("prints the version of the package", async () => {
    const { out } = await run("--version");
    assert.match(out, /^binnacle \S+, compatible with Kubernetes 1\.37, on Node \S+\n$/);
    assert.equal(out.split(/[ ,]/)[1], packageJson.version);
    assert.equal((await run("version")).out, out);
  });

  test("lists controllers that run, and those that do not", async () => {
    const { out } = await run("controllers");
    const [byDefault = "", available = "", named = "", others = ""] = out.split("\n\n");
    assert.match(byDefault, /^ {2}garbage-collector-controller {2,}\S/m);
    assert.match(available, /^ {2}deployment-controller {2,}\S/m);
    assert.match(named, /^ {2}token-cleaner-controller {2,}\S/m);
    assert.match(others, /^ {2}persistentvolume-attach-detach-controller {2,}\S/m);
  });

  test("lists admission plugins", async () => {
    const { out } = await run("plugins");
    const [on = "", absent = ""] = out.split("\n\n");
    assert.match(on, /^ {2}PodSecurity +enforces/m);
    assert.match(absent, /^ {2}AlwaysPullImages$/m);
  });
});

suite("completion", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    test(`of ${shell} contains every command and its flags`, async () => {
      const { code, out } = await run("completion", shell);
      assert.equal(code, 0);
      for (const { name } of COMMANDS) assert.ok(out.includes(name), name);
      assert.ok(out.includes("etcd-servers"));
    });
  }
});
