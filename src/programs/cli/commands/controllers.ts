import type { Command } from "commander";
import { RUNNABLE_CONTROLLERS } from "../../../cluster/controllers/manager/all.ts";
import { DEFAULT_CONTROLLERS } from "../../../cluster/controllers/manager/default-controllers.ts";
import { MANAGER_CONTROLLERS } from "../../../cluster/controllers/manager/manager-controllers.ts";
import type { Example, Io } from "../command.ts";
import { printTable } from "../table-text.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["List all controllers", "binnacle controllers"],
  ["Run all available controllers except one", "binnacle serve --controllers '*,-garbage-collector-controller'"],
];

/** Prints the loops of kube-controller-manager, those that can run inside of the server first. */
export function configure(command: Command, { print }: Io): void {
  command.action(() => {
    const own = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));
    const byDefault = new Set(DEFAULT_CONTROLLERS.split(","));
    const section = (title: string, isShown: (name: string) => boolean) => {
      const rows = MANAGER_CONTROLLERS.filter(({ name }) => isShown(name)).map(({ name, does }) => [name, does]);
      return `${title}:\n${printTable(rows)}`;
    };
    const optional = new Set(RUNNABLE_CONTROLLERS.filter(({ isOptional }) => isOptional).map(({ name }) => name));
    const isFurther = (name: string) => own.has(name) && !byDefault.has(name) && !optional.has(name);
    const sections = [
      section("Run in the server, unless --controllers excludes them", (name) => byDefault.has(name)),
      section("Run in the server if --controllers names them, or with --controllers='*'", isFurther),
      section("Run in the server if --controllers names them", (name) => optional.has(name)),
      section("Not available; need a separate kube-controller-manager", (name) => !own.has(name)),
    ];
    print(sections.join("\n\n"));
  });
}
