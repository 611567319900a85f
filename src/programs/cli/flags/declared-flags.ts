import { type Command, Option as CommanderOption, InvalidArgumentError } from "commander";
import { nestValues } from "../../../base/options/configuration.ts";
import {
  flagUsage,
  type Leaf,
  leavesOf,
  type Members,
  type Option,
  shownDefault,
} from "../../../base/options/option.ts";
import { InvalidValue } from "../../../base/options/value-types.ts";

/** The flag of a declared option. Its value is stored under the path of the option. */
export class DeclaredFlag extends CommanderOption {
  readonly declared: Option;
  readonly #path: string;

  constructor({ path, option }: Leaf) {
    const value = shownDefault(option);
    super(flagUsage(option), value === "" ? option.help : `${option.help} (default: ${value})`);
    this.declared = option;
    this.#path = path;
    this.argParser((text, before: unknown) => parse(option, text, before));
  }

  override attributeName(): string {
    return this.#path;
  }
}

function parse({ type }: Option, text: string, before: unknown): unknown {
  try {
    return type.parse?.(text, before);
  } catch (error) {
    throw error instanceof InvalidValue ? new InvalidArgumentError(error.message) : error;
  }
}

/** Adds the flags of declared options. Commander only parses them: defaults come from the declarations. */
export function addFlags(command: Command, options: Members): Command {
  for (const leaf of leavesOf(options)) if (leaf.option.flag !== undefined) command.addOption(new DeclaredFlag(leaf));
  return command;
}

/** The values of a command's flags, nested as the configuration is. Flags that were not given are undefined. */
export function flagsOf<Flags>(command: Command): Flags {
  return nestValues(command.opts()) as Flags;
}

/** Collects the values of a flag that may be repeated. */
export const repeated = (text: string, before: readonly string[] = []): string[] => [...before, text];
