import type { Command } from "commander";
import { PLUGIN_TABLE, UNAVAILABLE_PLUGINS } from "../admission/plugins/plugin-table.ts";
import type { Example, Io } from "./command.ts";
import { printTable } from "./table-text.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Which admission plugins there are", "binnacle plugins"],
  ["Without one of them", "binnacle serve --disable-admission-plugins NodeRestriction"],
];

/** Prints the admission plugins of kube-apiserver, in the order in which they run. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    const rows = PLUGIN_TABLE.map(({ name, does }) => [name, does]);
    print(`On, in this order, unless --disable-admission-plugins leaves them out:\n${printTable(rows)}\n`);
    print(`Known to kube-apiserver, not there yet:\n${printTable(UNAVAILABLE_PLUGINS.map((name) => [name]))}`);
  });
}
