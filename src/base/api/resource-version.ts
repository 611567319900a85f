import { plainError } from "./api-error.ts";
import { printValue } from "./field-error.ts";

/** Why a text is not a resourceVersion, in the words of `strconv.ParseUint`. Undefined if it is valid. */
export function versionProblem(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${printValue(text)}: invalid syntax`;
  if (BigInt(text) > 0xffff_ffff_ffff_ffffn)
    return `strconv.ParseUint: parsing ${printValue(text)}: value out of range`;
  return undefined;
}

/** Parses a resourceVersion. 0 if omitted, empty or "0". Throws the plain 500 of kube-apiserver. */
export function parseVersion(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const problem = versionProblem(text);
  if (problem !== undefined) throw plainError(500, problem);
  return Number(text);
}
