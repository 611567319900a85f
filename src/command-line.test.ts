import assert from "node:assert/strict";
import { suite, test } from "node:test";
import packageJson from "../package.json" with { type: "json" };
import { runCommandLine } from "./command-line.ts";
import { silentIo } from "./commands/io.suite.ts";
import { COMMANDS } from "./commands/table.ts";

async function run(...args: string[]) {
  const io = silentIo();
  const code = await runCommandLine(args, io);
  return { code, out: io.out(), err: io.err() };
}

suite("the command line", () => {
  test("tells of every command, also without arguments", async () => {
    const { code, out } = await run();
    assert.equal(code, 0);
    assert.match(
      out,
      /^A control plane's API[\s\S]*Examples:[\s\S]*\n {2}binnacle up\n[\s\S]*Usage:[\s\S]*docs\/README\.md/,
    );
    for (const { name, summary } of COMMANDS)
      assert.ok(out.includes(`${name} `) && out.includes(summary.slice(0, 30)), name);
    assert.equal((await run("--help")).out, out);
    assert.equal((await run("help")).out, out);
  });

  for (const { name } of COMMANDS) {
    test(`${name} --help begins with examples that the parser takes`, async () => {
      const { code, out } = await run(name, "--help");
      assert.equal(code, 0);
      assert.ok(out.indexOf("Examples:") >= 0 && out.indexOf("Examples:") < out.indexOf("Usage:"), out);
      assert.ok(out.includes(`binnacle ${name}`), out);
      assert.equal((await run("help", name)).out, out);
    });
  }

  test("a command that is a group of others tells of them, and fails", async () => {
    const { code, err } = await run("auth");
    assert.equal(code, 1);
    assert.match(err, /explain/);
  });

  test("says its version, which is that of the package", async () => {
    const { out } = await run("--version");
    assert.match(out, /^binnacle \S+, compatible with Kubernetes 1\.37, on Node \S+\n$/);
    assert.equal(out.split(/[ ,]/)[1], packageJson.version);
    assert.equal((await run("version")).out, out);
  });

  test("lists loops that run, and those that do not", async () => {
    const { out } = await run("controllers");
    const [own = "", others = ""] = out.split("\n\n");
    assert.match(own, /^ {2}garbage-collector-controller {2,}\S/m);
    assert.match(others, /^ {2}deployment-controller {2,}\S/m);
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
    test(`of ${shell} knows every command and its flags`, async () => {
      const { code, out } = await run("completion", shell);
      assert.equal(code, 0);
      for (const { name } of COMMANDS) assert.ok(out.includes(name), name);
      assert.ok(out.includes("etcd-servers"));
    });
  }
});
