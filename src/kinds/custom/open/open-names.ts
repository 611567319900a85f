import { dns1035Label, dns1123Subdomain } from "../../../base/api/names.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";

/** Path segments that have another meaning in place of a plural name. */
const TAKEN: ReadonlySet<string> = new Set(["namespaces", "watch"]);

/**
 * Domains of Kubernetes, whose groups always need a definition, whatever `--api-domain` is. Clients take such a
 * group for an official one. An autoscaler would accept an empty list of metrics instead of a 404. Compat:
 * CustomResourceDefinitions need the annotation `api-approved.kubernetes.io` for these groups.
 */
const RESERVED_DOMAINS: readonly string[] = ["k8s.io", "kubernetes.io"];

/** Groups of Kubernetes' own extension servers, below `--api-domain`. */
const EXTENSION_GROUPS: readonly string[] = ["metrics", "custom.metrics", "external.metrics"];

function isReserved(group: string, apiDomain: string): boolean {
  if (RESERVED_DOMAINS.some((domain) => group === domain || group.endsWith(`.${domain}`))) return true;
  return EXTENSION_GROUPS.some((name) => group === `${name}.${apiDomain}`);
}

const isLabel = (text: string): boolean => dns1035Label(text).length === 0;

/**
 * Whether a path may name a resource without a definition: its group contains a dot and is not reserved, and group,
 * version and plural name are valid in a CustomResourceDefinition.
 */
export function mayBeOpen({ group, version, resource }: RequestInfo, apiDomain: string): boolean {
  if (!group.includes(".") || isReserved(group, apiDomain) || TAKEN.has(resource)) return false;
  return isLabel(resource) && isLabel(version) && dns1123Subdomain(group).length === 0;
}

/** Whether a kind has a valid name. Compat: the rule for `spec.names.kind` of a CustomResourceDefinition. */
export function isKindName(kind: string): boolean {
  return isLabel(kind.toLowerCase());
}
