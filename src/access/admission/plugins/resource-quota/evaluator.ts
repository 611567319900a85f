import type { KubeObject } from "../../../../base/api/object.ts";
import { type Amounts, countOf } from "../../../../base/api/resource-amounts.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import type { Scope } from "./quota.ts";

/** How objects of one kind are counted. Upstream: `quota.Evaluator`. */
export interface Evaluator {
  /** Whether a write of this kind can change usage. */
  handles(request: AdmissionRequest): boolean;
  /** Whether objects of this kind can use a resource in `hard`. Upstream: `MatchingResources`. */
  tracks(name: string): boolean;
  /** The usage of one object. */
  usage(object: KubeObject): Amounts;
  /** The usage of every object, if it is the same for all. Then objects can be counted without reading them. */
  readonly fixedUsage?: Amounts;
  /** Whether an object matches a scope. If omitted, no scope matches. */
  matchesScope?(scope: Scope, object: KubeObject): boolean;
  /** Error text if an object must specify some of the limited resources but does not. Upstream: `Constraints`. */
  missing?(limited: readonly string[], object: KubeObject): string | undefined;
}

/** The name under which a ResourceQuota counts objects of a kind: `count/<plural>.<group>`. */
export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}

/** Whether a request creates an object. */
export function isCreate({ operation, subresource }: AdmissionRequest): boolean {
  return operation === "CREATE" && subresource === "";
}

/** Whether a request creates or updates an object, as opposed to a subresource. */
export function isWrite({ operation, subresource }: AdmissionRequest): boolean {
  return (operation === "CREATE" || operation === "UPDATE") && subresource === "";
}

/** An evaluator that counts objects under the given names. */
export function objectCounts(...names: readonly string[]): Evaluator {
  const usage: Amounts = new Map(names.map((name) => [name, countOf(1)]));
  return { handles: isCreate, tracks: (name) => usage.has(name), usage: () => usage, fixedUsage: usage };
}
