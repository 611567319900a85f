import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { chooseSeed, scaled } from "../model/random.ts";
import { Setting } from "../model/servers.ts";
import { type Follower, rideStorm } from "../model/storm.ts";
import { tokens } from "../support/oracle.ts";
import { cacheFolder, needs, needsStore } from "../support/tools.ts";

const source = path.join(import.meta.dirname, "reflector");

/** Builds the program unless it has been built from the same sources before. */
async function buildReflector(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(await readFile(path.join(source, file)));
  const folder = path.join(cacheFolder(), "reflector");
  const program = path.join(folder, hash.digest("hex").slice(0, 16));
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  await promisify(execFile)("go", ["build", "-o", `${program}.new`, "."], { cwd: source, env });
  await rename(`${program}.new`, program);
  return program;
}

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
    program = await buildReflector();
  });
  after(() => setting.close());

  for (const store of ["sqlite", "etcd"] as const) {
    test(`on ${store}`, needsStore(store), async (t) => {
      const follow = (address: string) => startReflector(program, address);
      t.diagnostic(await rideStorm({ setting, store, seed: chooseSeed(), follow }));
    });
  }
});
