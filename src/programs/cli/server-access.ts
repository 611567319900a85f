import { access } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import type { ServerAccess } from "../../base/net/server-access.ts";
import { readKubeconfig } from "../../data/kubeconfig/kubeconfig-read.ts";
import { Failure, type Io } from "./command.ts";
import { dataFolder } from "./local/data-folder.ts";
import { homeKubeconfig, kubeconfigVariable } from "./local/merge-kubeconfig.ts";

const HELP =
  "kubeconfig of the server (default: the first that exists of $KUBECONFIG, the kubeconfig in the data folder, ~/.kube/config)";

/** Adds `--kubeconfig`. */
export function addKubeconfigFlag(command: Command): Command {
  return command.option("--kubeconfig <file>", HELP);
}

/**
 * Reads the kubeconfig that a command uses: `--kubeconfig`, else the first existing file of $KUBECONFIG, else that of the
 * local control plane, else that of kubectl. Throws a Failure that lists the tried files if there is none.
 */
export async function readServerAccess(flag: string | undefined, io: Pick<Io, "cwd" | "env">): Promise<ServerAccess> {
  const candidates = candidatesFor(flag, io);
  const next =
    flag === undefined
      ? "Start a server: binnacle up --detach. For another server, use --kubeconfig FILE."
      : "Relative paths start at the working directory.";
  for (const [, file] of candidates) {
    const place = path.resolve(io.cwd, file);
    if (await exists(place)) return readExisting(place, flag === undefined ? next : undefined);
  }
  const tried = candidates.map(([setting, file]) => (setting === "" ? file : `${setting}=${file}`));
  throw new Failure(
    tried.length === 1 ? `${tried[0]}: no such file` : `no kubeconfig found; tried ${tried.join(", ")}`,
    next,
  );
}

/** Files to try in order, each with the flag or variable that names it. As for kubectl, $KUBECONFIG replaces the default files. */
function candidatesFor(
  flag: string | undefined,
  io: Pick<Io, "cwd" | "env">,
): readonly (readonly [setting: string, file: string])[] {
  if (flag !== undefined) return [["--kubeconfig", flag]];
  const listed = kubeconfigVariable(io);
  if (listed.length > 0) return listed.map((file) => ["KUBECONFIG", file]);
  return [dataFolder(undefined, io).kubeconfig, homeKubeconfig(io)].map((file) => ["", file]);
}

async function readExisting(file: string, next: string | undefined): Promise<ServerAccess> {
  try {
    return await readKubeconfig(file);
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), next);
  }
}

/** An unreadable file counts: reading it explains the problem. */
function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
  );
}
