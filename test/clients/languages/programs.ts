import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../support/tools.ts";

/** A program that uses Kubernetes through the client of a language. */
export interface ClientProgram {
  readonly name: string;
  /** What must be on the machine to build and run it. */
  readonly toolchain: readonly string[];
  /** Fetches what the program is made of. */
  fetch(folder: string): Promise<unknown>;
  /** Builds it of that; gives the command to run it. */
  build(folder: string): Promise<Command>;
}

/** A program with its arguments. */
export type Command = readonly [file: string, ...args: string[]];

const run = promisify(execFile);
const sources = (name: string) => path.join(import.meta.dirname, name);

const python: ClientProgram = {
  name: "python",
  toolchain: ["python3"],
  async fetch(folder) {
    if (!existsSync(interpreterIn(folder))) await run("python3", ["-m", "venv", folder]);
    const requirements = path.join(sources("python"), "requirements.txt");
    await run(interpreterIn(folder), ["-m", "pip", "install", "--quiet", "-r", requirements]);
  },
  build: async (folder) => [interpreterIn(folder), path.join(sources("python"), "journey.py")],
};

const interpreterIn = (folder: string) => path.join(folder, "bin", "python");

const fabric8: ClientProgram = {
  name: "fabric8",
  toolchain: ["java", "mvn"],
  fetch: (folder) => maven(folder, "dependency:go-offline"),
  async build(folder) {
    const paths = path.join(folder, "classpath");
    await maven(folder, "--offline", "compile", "dependency:build-classpath", `-Dmdep.outputFile=${paths}`);
    const launch = `exec java -cp "${path.join(folder, "classes")}:$(cat "${paths}")" journey.Journey`;
    return ["sh", "-c", launch];
  },
};

const maven = (folder: string, ...goals: string[]) =>
  run("mvn", ["-q", "-B", "-f", path.join(sources("fabric8"), "pom.xml"), `-Djourney.target=${folder}`, ...goals]);

const kubeRs: ClientProgram = {
  name: "kube-rs",
  toolchain: ["cargo"],
  async fetch(folder) {
    // Cargo writes its lock file beside the sources.
    await cp(sources("kube-rs"), folder, { recursive: true });
    await cargo(folder, "fetch");
  },
  async build(folder) {
    await cargo(folder, "build", "--offline");
    return [path.join(folder, "target", "debug", "kube-rs-journey")];
  },
};

const cargo = (folder: string, subcommand: string, ...args: string[]) =>
  run("cargo", [subcommand, "--quiet", "--manifest-path", path.join(folder, "Cargo.toml"), ...args]);

/** The clients of other languages that have a program here. */
export const CLIENT_PROGRAMS: readonly ClientProgram[] = [python, fabric8, kubeRs];

/** Where a program is built. */
export async function folderOf({ name }: ClientProgram): Promise<string> {
  const folder = path.join(cacheFolder(), "clients", name);
  await mkdir(folder, { recursive: true });
  return folder;
}
