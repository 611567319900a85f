import { InvalidArgumentError } from "commander";

/** Compat: the values that Go's `strconv.ParseBool` takes; the flag alone means true. */
export function isOn(text: string): boolean {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  throw new InvalidArgumentError("expected true or false");
}
