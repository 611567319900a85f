import { execFile } from "node:child_process";
import path from "node:path";
import { findProgram } from "../envtest/find-program.ts";
import type { BuiltManifests } from "../what-if/manifests.ts";
import { Failure, type Io } from "./command.ts";

const MAX_BYTES = 256 * 1024 * 1024;
const INSTALL = "https://kubernetes.io/docs/tasks/tools/";

/** Programs that build a kustomization, in order of preference, with their arguments before the folder. */
const BUILDERS: readonly (readonly [program: string, ...args: string[]])[] = [
  ["kubectl", "kustomize"],
  ["kustomize", "build"],
];

/** Builds a kustomization with kubectl, or with kustomize if kubectl is not installed. Throws a Failure. */
export async function buildKustomization(folder: string, io: Pick<Io, "env" | "cwd">): Promise<BuiltManifests> {
  for (const [program, ...args] of BUILDERS) {
    const file = await findProgram(program, io.env, process.platform);
    if (file === undefined) continue;
    const text = await run(file, [...args, path.resolve(io.cwd, folder)], io).catch((error: Error) => {
      throw new Failure(
        `--kustomize=${folder}: ${error.message}`,
        `Try it alone: ${program} ${args.join(" ")} ${folder}`,
      );
    });
    return { name: folder, text };
  }
  throw new Failure(
    `--kustomize=${folder}: needs kubectl or kustomize, and neither is in a folder of PATH`,
    `Install kubectl (${INSTALL}), or build the folder elsewhere and pass the result with -f.`,
  );
}

function run(file: string, args: readonly string[], { env, cwd }: Pick<Io, "env" | "cwd">): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  execFile(file, args, { cwd, env, maxBuffer: MAX_BYTES, encoding: "buffer" }, (error, out, complaints) => {
    if (!error) return resolve(out);
    const text = complaints
      .toString()
      .trim()
      .replace(/^error: /, "");
    reject(new Error(text === "" ? error.message : text));
  });
  return promise;
}
