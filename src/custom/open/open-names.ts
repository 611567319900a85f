import { dns1035Label, dns1123Subdomain } from "../../api/names.ts";
import type { RequestInfo } from "../../api/request-info.ts";

/** Words that stand for something else in the place of a plural name. */
const TAKEN: ReadonlySet<string> = new Set(["namespaces", "watch"]);

/**
 * Groups of the extension servers that belong to Kubernetes. A controller that scales takes an empty list of metrics for
 * an answer, and a 404 for what it is: nobody serves them.
 */
const RESERVED: ReadonlySet<string> = new Set(["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"]);

const isLabel = (text: string): boolean => dns1035Label(text).length === 0;

/**
 * Whether a path may name a resource without a definition: its group has a dot and is not reserved, and group, version and
 * plural name are what a CustomResourceDefinition may be called.
 */
export function mayBeOpen({ group, version, resource }: RequestInfo): boolean {
  if (!group.includes(".") || RESERVED.has(group) || TAKEN.has(resource)) return false;
  return isLabel(resource) && isLabel(version) && dns1123Subdomain(group).length === 0;
}

/** Whether a kind may be called so. Compat: the rule for `spec.names.kind` of a CustomResourceDefinition. */
export function isKindName(kind: string): boolean {
  return isLabel(kind.toLowerCase());
}
