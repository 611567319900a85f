import type { Json } from "../../api/object.ts";
import { printSorted, typeOfValue } from "./kinds-of-values.ts";

/**
 * Whether a value is one of an enum. Compat: `Enum` of kube-openapi converts it to the type of each candidate first, as Go's
 * `reflect.Value.Convert` does: 1.5 is 1 to an integer, and 97 is "a" to a string.
 */
export function isInEnum(value: Json, candidates: readonly Json[]): boolean {
  return candidates.some((candidate) => isConvertedEqual(value, candidate));
}

function isConvertedEqual(value: Json, candidate: Json): boolean {
  const type = typeOfValue(value);
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
    case "array":
    case "object":
      return type === wanted && printSorted(value) === printSorted(candidate);
    default:
      return false;
  }
}

const MAX_CODE_POINT = 0x10_ff_ff;

function characterOf(number: number): string {
  const isSurrogate = number >= 0xd800 && number < 0xe000;
  return number < 0 || number > MAX_CODE_POINT || isSurrogate ? "\ufffd" : String.fromCodePoint(number);
}
