import type { Command } from "commander";
import { PACKAGE_VERSION, release } from "../server/release.ts";
import type { Example, Io } from "./command.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [["For a bug report", "binnacle version"]];

/** Prints what this is. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    print(
      `binnacle ${PACKAGE_VERSION}, compatible with Kubernetes ${release.version}, on Node ${process.versions.node}\n`,
    );
  });
}
