import type { Command } from "commander";
import { DEFAULT_PLUGINS, UNAVAILABLE_PLUGINS } from "../admission/plugins/all.ts";
import type { Example, Io } from "./command.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Which admission plugins there are", "binnacle plugins"],
  ["Without one of them", "binnacle serve --disable-admission-plugins NodeRestriction"],
];

/** Prints the admission plugins of kube-apiserver, in the order in which they run. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    const list = (names: readonly string[]) => names.map((name) => `  ${name}\n`).join("");
    print(`On, in this order, unless --disable-admission-plugins leaves them out:\n${list(DEFAULT_PLUGINS)}\n`);
    print(`Known to kube-apiserver, not there yet:\n${list(UNAVAILABLE_PLUGINS)}`);
  });
}
