import type { KubeObject } from "../../../base/api/object.ts";

/** Older objects first. Names decide among objects of the same second. */
export function byCreation({ metadata: one }: KubeObject, { metadata: other }: KubeObject): number {
  return compare(one.creationTimestamp, other.creationTimestamp) || compare(one.name, other.name);
}

/** Orders texts by code unit. */
export function compare(one = "", other = ""): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
