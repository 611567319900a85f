import type { Command } from "commander";
import { MANAGER_CONTROLLERS } from "../controllers/manager-controllers.ts";
import { MANAGER_LOOPS } from "../server/manager-loops.ts";
import type { Example, Io } from "./command.ts";
import { printTable } from "./table-text.ts";

/** What `--help` begins with. */
export const examples: readonly Example[] = [
  ["Which loops run in the server, and which do not", "binnacle controllers"],
  ["All but one of those that can", "binnacle serve --controllers '*,-garbage-collector-controller'"],
];

/** Prints the loops of kube-controller-manager, those that can run inside of the server first. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    const own = new Set(MANAGER_LOOPS.map(({ name }) => name));
    const rows = (isOwn: boolean) =>
      MANAGER_CONTROLLERS.filter(({ name }) => own.has(name) === isOwn).map(({ name, does }) => [name, does]);
    print(`Run inside of the server, unless --controllers leaves them out:\n${printTable(rows(true))}\n`);
    print(`Only where the real kube-controller-manager runs beside it:\n${printTable(rows(false))}`);
  });
}
