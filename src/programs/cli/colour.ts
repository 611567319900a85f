import { Option } from "commander";
import type { Io } from "./command.ts";

/** Values of `--color`. */
export type ColourChoice = "auto" | "always" | "never";

/** The flag `--color`. */
export function colourFlag(): Option {
  return new Option("--color <when>", "colours: auto uses them on a terminal, unless $NO_COLOR is set")
    .choices(["auto", "always", "never"] satisfies ColourChoice[])
    .default("auto" satisfies ColourChoice);
}

/** Whether to print colours. See https://no-color.org. */
export function hasColour(choice: ColourChoice, { isTerminal, env }: Pick<Io, "isTerminal" | "env">): boolean {
  if (choice !== "auto") return choice === "always";
  return isTerminal && !env.NO_COLOR && env.TERM !== "dumb";
}
