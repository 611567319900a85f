import { isObject, type Json, type JsonObject } from "../../../../base/api/object.ts";
import { printGoJson } from "../../../../base/go/go-json.ts";
import { isExactInteger } from "../../../../base/util/exact-integer.ts";
import { byCodePoint } from "../../../../data/patch/strategic-print.ts";
import { encodeHash, fnv32 } from "./fnv.ts";

/**
 * The data of a ControllerRevision as text: a patch that replaces the Pod template. Upstream: `getPatch`.
 * Compat: the `getPatch` of StatefulSets reads numbers as float64, which rounds integers above 2^53; that of DaemonSets
 * does not.
 */
export function revisionData(template: JsonObject, numbers: "float64" | "int64"): string {
  return printSortedJson({ spec: { template: { ...template, $patch: "replace" } } }, numbers);
}

/**
 * JSON with the members of objects in the order of Go's maps. Two revisions are equal if this text of their data is.
 * Upstream: `EqualRevision`.
 */
export function printSortedJson(value: Json, numbers: "float64" | "int64" = "int64"): string {
  if (Array.isArray(value)) return `[${value.map((item) => printSortedJson(item, numbers)).join(",")}]`;
  if (isExactInteger(value) && numbers === "float64") return String(Number(value));
  if (!isObject(value)) return printGoJson(value);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort(byCodePoint)
    .map((name) => `${printGoJson(name)}:${printSortedJson(value[name] ?? null, numbers)}`);
  return `{${members.join(",")}}`;
}

/** The label `controller.kubernetes.io/hash`, and the end of the name. Upstream: `HashControllerRevision`. */
export function controllerRevisionHash(data: string, collisionCount?: number): string {
  return encodeHash(fnv32(Buffer.from(`${data}${collisionCount ?? ""}`)));
}

const MAX_PREFIX = 223;

/** Name of the ControllerRevision of a StatefulSet. Upstream: `ControllerRevisionName`. */
export function controllerRevisionName(owner: string, hash: string): string {
  return `${owner.slice(0, MAX_PREFIX)}-${hash}`;
}
