import type { Command } from "commander";
import { PLUGIN_TABLE, UNAVAILABLE_PLUGINS } from "../../../access/admission/plugins/plugin-table.ts";
import type { Example, Io } from "../command.ts";
import { printTable } from "../table-text.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["List all admission plugins", "binnacle plugins"],
  ["Disable one of them", "binnacle serve --disable-admission-plugins NodeRestriction"],
];

/** Prints the admission plugins of kube-apiserver in the order in which they run. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    const rows = PLUGIN_TABLE.map(({ name, does }) => [name, does]);
    print(`Enabled in this order, unless --disable-admission-plugins excludes them:\n${printTable(rows)}\n`);
    print(`Not available (they exist in kube-apiserver):\n${printTable(UNAVAILABLE_PLUGINS.map((name) => [name]))}`);
  });
}
