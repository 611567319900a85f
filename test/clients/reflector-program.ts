import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Follower } from "../model/storm.ts";
import { cacheFolder } from "../support/tools.ts";

const source = path.join(import.meta.dirname, "reflector");

/** Builds the program unless it has been built from the same sources before. */
export async function buildReflector(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(await readFile(path.join(source, file)));
  const folder = path.join(cacheFolder(), "reflector");
  const program = path.join(folder, hash.digest("hex").slice(0, 16));
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  const unfinished = `${program}.${process.pid}`;
  await promisify(execFile)("go", ["build", "-o", unfinished, "."], { cwd: source, env });
  await rename(unfinished, program);
  return program;
}

interface Report {
  readonly objects: Record<string, string>;
  readonly complaints: string[];
  readonly counts: Record<string, number>;
}

/** client-go's reflector in a process of its own, and a controller's writes. */
export interface Reflector extends Follower {
  /** Reads a ConfigMap and writes it again until there is no conflict. */
  write(key: string): Promise<void>;
}

/** Starts the program, which follows all ConfigMaps of a server. */
export function startReflector(program: string, server: string, token: string): Reflector {
  const child = spawn(program, ["-server", server, "-token", token], { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<Report> => {
    child.stdin.write(`${line}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, "the reflector ended");
    return JSON.parse(value) as Report;
  };
  return {
    held: async () => (await ask("report")).objects,
    complaints: async () => (await ask("report")).complaints,
    counts: async () => (await ask("report")).counts,
    write: async (key) => void (await ask(`write ${key}`)),
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
