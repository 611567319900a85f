import type { Json } from "../../base/api/object.ts";

/** Compares two filter operands. Undefined if they cannot be compared. Upstream: `template.Less`. */
export function compareValues(left: Json, right: Json, operator: string): boolean | undefined {
  if (left === null || right === null || typeof left !== typeof right || typeof left === "object") return undefined;
  const isOrdered = typeof left !== "boolean";
  switch (operator) {
    case "==":
      return left === right;
    case "!=":
      return left !== right;
    case "<":
      return isOrdered ? left < right : undefined;
    case "<=":
      return isOrdered ? left <= right : undefined;
    case ">":
      return isOrdered ? left > right : undefined;
    case ">=":
      return isOrdered ? left >= right : undefined;
    default:
      return undefined;
  }
}
