import type { KubeObject } from "../../../api/object.ts";
import { type Amounts, countOf } from "../../../api/resource-amounts.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import type { Scope } from "./quota.ts";

/** Upstream's `quota.Evaluator`: how objects of one kind are counted. */
export interface Evaluator {
  /** Whether a write of this kind can change usage. */
  handles(request: AdmissionRequest): boolean;
  /** Whether objects of this kind can use a resource in `hard`. Upstream: `MatchingResources`. */
  tracks(name: string): boolean;
  /** The usage of one object. */
  usage(object: KubeObject): Amounts;
  /** Whether an object matches a scope. Absent: none of them matches. */
  matchesScope?(scope: Scope, object: KubeObject): boolean;
  /** What an object must specify when the given resources are limited and it does not. Upstream: `Constraints`. */
  missing?(limited: readonly string[], object: KubeObject): string | undefined;
}

/** The name under which a ResourceQuota counts objects of a kind: `count/<plural>.<group>`. */
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

/** An evaluator that counts objects, under one name or several. */
export function objectCounts(...names: readonly string[]): Evaluator {
  const usage: Amounts = new Map(names.map((name) => [name, countOf(1)]));
  return { handles: isCreate, tracks: (name) => usage.has(name), usage: () => usage };
}
