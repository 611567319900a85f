import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
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
  await promisify(execFile)("go", ["build", "-o", `${program}.new`, "."], { cwd: source, env });
  await rename(`${program}.new`, program);
  return program;
}
