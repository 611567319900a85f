import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { chooseSeed, scaled } from "../model/random.ts";
import { Setting } from "../model/servers.ts";
import { type Follower, rideStorm } from "../model/storm.ts";
import { buildGoProgram } from "../support/go-program.ts";
import { tokens } from "../support/oracle.ts";
import { needs, needsStore } from "../support/tools.ts";

interface Report {
  readonly objects: Record<string, string>;
  readonly complaints: string[];
  readonly counts: Record<string, number>;
}

async function startReflector(program: string, server: string): Promise<Follower> {
  const child = spawn(program, ["-server", server, "-token", tokens.admin], { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const report = async (): Promise<Report> => {
    child.stdin.write("report\n");
    const { value, done } = await lines.next();
    assert.ok(!done, "the reflector ended");
    return JSON.parse(value) as Report;
  };
  return {
    held: async () => (await report()).objects,
    complaints: async () => (await report()).complaints,
    counts: async () => (await report()).counts,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

const options = { timeout: scaled(150_000), concurrency: 2, ...needs("go") };

describe("client-go's reflector stays exact over disconnects, compactions and restarts", options, () => {
  const setting = new Setting();
  let program: string;
  before(async () => {
    program = await buildGoProgram(path.join(import.meta.dirname, "reflector"));
  });
  after(() => setting.close());

  for (const store of ["sqlite", "etcd"] as const) {
    test(`on ${store}`, needsStore(store), async (t) => {
      const follow = (address: string) => startReflector(program, address);
      t.diagnostic(await rideStorm({ setting, store, seed: chooseSeed(), follow }));
    });
  }
});
