import type { KubeObject } from "../../../api/object.ts";
import { type Amounts, countOf } from "../../../api/resource-amounts.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import type { Scope } from "./quota.ts";

/** How objects of one kind are counted. */
export interface Evaluator {
  /** Whether a write of this kind can change what is used. */
  handles(request: AdmissionRequest): boolean;
  /** Whether objects of this kind can use the resource that a quota limits. */
  tracks(name: string): boolean;
  /** What one object uses. */
  usage(object: KubeObject): Amounts;
  /** Whether an object is within a scope. Absent: none of them is. */
  matchesScope?(scope: Scope, object: KubeObject): boolean;
  /** What an object must say when the given resources are limited and it does not. */
  missing?(limited: readonly string[], object: KubeObject): string | undefined;
}

/** The name under which a quota limits the number of objects of a kind. */
export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}

/** Whether an object of a kind comes into being. */
export function isCreate({ operation, subresource }: AdmissionRequest): boolean {
  return operation === "CREATE" && subresource === "";
}

/** Whether an object of a kind comes into being or is changed as a whole. */
export function isWrite({ operation, subresource }: AdmissionRequest): boolean {
  return (operation === "CREATE" || operation === "UPDATE") && subresource === "";
}

/** Counts objects, under one name or several. */
export function objectCounts(...names: readonly string[]): Evaluator {
  const usage: Amounts = new Map(names.map((name) => [name, countOf(1)]));
  return { handles: isCreate, tracks: (name) => usage.has(name), usage: () => usage };
}
