import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { cacheFolder } from "./tools.ts";

/** Builds the Go program of a folder (main.go), unless it has been built from the same sources before, and answers with its path. */
export async function buildGoProgram(source: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["main.go", "go.mod", "go.sum"]) hash.update(await readFile(path.join(source, file)));
  const folder = path.join(cacheFolder(), path.basename(source));
  const program = path.join(folder, hash.digest("hex").slice(0, 16));
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  const unfinished = `${program}.${process.pid}`;
  await promisify(execFile)("go", ["build", "-o", unfinished, "."], { cwd: source, env });
  await rename(unfinished, program);
  return program;
}

/** A program that follows a server, and answers each line with one of JSON. */
export interface GoFollower<Report> {
  ask(line: string): Promise<Report>;
  /** Ends it, and resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts such a program. */
export function startGoFollower<Report>(program: string, server: string, token: string): GoFollower<Report> {
  const child = spawn(program, ["-server", server, "-token", token], { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const { value, done } = await lines.next();
      assert.ok(!done, "the program ended");
      return JSON.parse(value) as Report;
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
