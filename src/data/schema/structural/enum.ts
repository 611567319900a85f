import type { Json } from "../../../base/api/object.ts";
import { printSorted, typeOfValue, type ValueType } from "./kinds-of-values.ts";

/**
 * Whether a value is in an enum. Compat: `Enum` of kube-openapi first converts it to the type of each candidate like
 * Go's `reflect.Value.Convert`: 1.5 becomes the integer 1, and 97 becomes the string "a".
 */
export function isInEnum(value: Json, candidates: readonly Json[]): boolean {
  const type = typeOfValue(value);
  const isPrinted = type === "array" || type === "object";
  if (isPrinted) return printedCandidates(candidates).has(printSorted(value));
  return candidates.some((candidate) => isConvertedEqual(value, type, candidate));
}

const printed = new WeakMap<readonly Json[], ReadonlySet<string>>();

/** The lists and objects of an enum as texts. */
function printedCandidates(candidates: readonly Json[]): ReadonlySet<string> {
  let texts = printed.get(candidates);
  if (texts === undefined) {
    texts = new Set(candidates.filter((one) => typeof one === "object" && one !== null).map(printSorted));
    printed.set(candidates, texts);
  }
  return texts;
}

function isConvertedEqual(value: Json, type: ValueType, candidate: Json): boolean {
  const wanted = typeOfValue(candidate);
  switch (wanted) {
    case "integer":
      if (type === "integer") return String(value) === String(candidate);
      return type === "number" && Math.trunc(Number(value)) === Number(candidate);
    case "number":
      return (type === "integer" || type === "number") && Number(value) === Number(candidate);
    case "string":
      return type === "integer" ? characterOf(Number(value)) === candidate : value === candidate;
    case "boolean":
      return value === candidate;
    default:
      return false;
  }
}

const MAX_CODE_POINT = 0x10_ff_ff;

function characterOf(number: number): string {
  const isSurrogate = number >= 0xd800 && number < 0xe000;
  return number < 0 || number > MAX_CODE_POINT || isSurrogate ? "\ufffd" : String.fromCodePoint(number);
}
