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

/**
 * Builds the Go program of a folder (main.go) unless it is cached, and resolves to its path. The module is that of the
 * folder or of its parent.
 */
export async function buildGoProgram(source: string): Promise<string> {
  const module = existsSync(path.join(source, "go.mod")) ? source : path.dirname(source);
  const hash = createHash("sha256");
  const files = [path.join(source, "main.go"), path.join(module, "go.mod"), path.join(module, "go.sum")];
  for (const file of files) hash.update(await readFile(file));
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

/** A program that follows a server and responds to each line with a line of JSON. */
export interface GoFollower<Report> {
  ask(line: string): Promise<Report>;
  /** Stops it, and resolves when it has ended. */
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
