import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder, type Program } from "../../support/tools.ts";

/** A program that uses Kubernetes through the client of a language. */
export interface ClientProgram {
  readonly name: string;
  /** What must be on the machine to build and run it. */
  readonly toolchain: readonly Program[];
  /** It takes a short time to build, since kubectl is built of the same packages. */
  readonly isQuick?: boolean;
  /** Fetches what the program is made of. */
  fetch(folder: string): Promise<unknown>;
  /** Builds it of that. */
  build(folder: string): Promise<unknown>;
  /** Runs what was built. */
  command(folder: string): Command;
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
  build: async () => undefined,
  command: (folder) => [interpreterIn(folder), path.join(sources("python"), "journey.py")],
};

const interpreterIn = (folder: string) => path.join(folder, "bin", "python");

const fabric8: ClientProgram = {
  name: "fabric8",
  toolchain: ["java", "mvn"],
  fetch: (folder) => maven(folder, "dependency:go-offline"),
  build: (folder) =>
    maven(folder, "--offline", "compile", "dependency:build-classpath", `-Dmdep.outputFile=${classPath(folder)}`),
  command(folder) {
    const launch = `exec java -cp "${path.join(folder, "classes")}:$(cat "${classPath(folder)}")" journey.Journey`;
    return ["sh", "-c", launch];
  },
};

const classPath = (folder: string) => path.join(folder, "classpath");

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
  build: (folder) => cargo(folder, "build", "--offline"),
  command: (folder) => [path.join(folder, "target", "debug", "kube-rs-journey")],
};

const cargo = (folder: string, subcommand: string, ...args: string[]) =>
  run("cargo", [subcommand, "--quiet", "--manifest-path", path.join(folder, "Cargo.toml"), ...args]);

const clientGo: ClientProgram = {
  name: "client-go",
  toolchain: ["go"],
  isQuick: true,
  fetch: () => go("mod", "download"),
  build: (folder) => go("build", "-o", path.join(folder, "journey"), "."),
  command: (folder) => [path.join(folder, "journey")],
};

const go = (...args: string[]) =>
  run("go", args, {
    cwd: sources("client-go"),
    env: { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" },
  });

/** The clients of other languages that have a program here. */
export const CLIENT_PROGRAMS: readonly ClientProgram[] = [clientGo, python, fabric8, kubeRs];

/** Thrown when what a program is made of cannot be had. */
export class FetchError extends Error {}

/** Fetches what a program is made of and builds it, unless it was built from the same sources before; gives the command that runs it. */
export async function prepare(program: ClientProgram): Promise<Command> {
  const built = await builtCommand(program);
  if (built) return built;
  const folder = folderOf(program);
  await mkdir(folder, { recursive: true });
  try {
    await program.fetch(folder);
  } catch (error) {
    throw new FetchError((error as Error).message.slice(0, 2000), { cause: error });
  }
  await program.build(folder);
  await writeFile(stampIn(folder), await hashOf(program));
  return program.command(folder);
}

/** The command that runs a program if it was built from the sources as they are. */
export async function builtCommand(program: ClientProgram): Promise<Command | undefined> {
  const folder = folderOf(program);
  const stamp = await readFile(stampIn(folder), "utf8").catch(() => undefined);
  return stamp === (await hashOf(program)) ? program.command(folder) : undefined;
}

const folderOf = ({ name }: ClientProgram) => path.join(cacheFolder(), "clients", name);
const stampIn = (folder: string) => path.join(folder, "journey.stamp");

async function hashOf({ name }: ClientProgram): Promise<string> {
  const hash = createHash("sha256");
  const files = await readdir(sources(name), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name));
  for (const file of paths.sort()) hash.update(file.slice(sources(name).length)).update(await readFile(file));
  return hash.digest("hex");
}
