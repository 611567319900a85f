import type { Command } from "commander";
import { PACKAGE_VERSION, release } from "../../../serving/endpoints/release.ts";
import type { Example, Io } from "../command.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [["Print the version for a bug report", "binnacle version"]];

/** Prints the versions of Binnacle, Kubernetes and Node. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    print(
      `binnacle ${PACKAGE_VERSION}, compatible with Kubernetes ${release.version}, on Node ${process.versions.node}\n`,
    );
  });
}
