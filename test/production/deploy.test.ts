import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { Command } from "commander";
import { addServeFlags } from "../../src/programs/cli/flags/serve-flags.ts";
import { readEnvironment, readUnit } from "./unit.ts";

const read = (name: string) => readFileSync(path.join(import.meta.dirname, "..", "..", "deploy", name), "utf8");

/** Throws for a flag that the server does not know, or a value that it refuses. */
function parse(args: readonly string[]): Record<string, unknown> {
  const serve = new Command("serve").exitOverride().configureOutput({ outputError: () => {} });
  addServeFlags(serve);
  return serve.parse([...args], { from: "user" }).opts();
}

suite("deploy/", () => {
  const environment = readEnvironment("HOST=a\nADDRESS=192.0.2.11\nMEMBERS=a=https://a:2380\nETCD=https://a:2379\n");

  test("the unit of a replica has flags that the server takes", () => {
    const { program, args } = readUnit(read("binnacle.service"), environment);
    assert.equal(program, "/usr/bin/binnacle");
    const [command, ...flags] = args;
    assert.equal(command, "serve");
    assert.partialDeepStrictEqual(parse(flags), { etcdServers: ["https://a:2379"], advertiseAddress: "192.0.2.11" });
    assert.throws(() => parse([...flags, "--no-such-flag"]), /unknown option/);
  });

  test("the unit of a replica gives it more time to stop than its delay and open requests take", () => {
    const unit = read("binnacle.service");
    const [, delay = ""] = /--shutdown-delay-duration=(\d+)s/.exec(unit) ?? [];
    const [, stop = ""] = /TimeoutStopSec=(\d+)/.exec(unit) ?? [];
    assert.ok(Number(stop) >= Number(delay) + 20, `${stop} after ${delay}`);
  });

  test("the command of the image has flags that the server takes", () => {
    const [, list = ""] = /^CMD (\[.*\])$/m.exec(read("Containerfile")) ?? [];
    const [command, ...flags]: string[] = JSON.parse(list);
    assert.equal(command, "serve");
    assert.partialDeepStrictEqual(parse(flags), { bindAddress: "0.0.0.0", certDir: "/var/lib/binnacle" });
  });
});
