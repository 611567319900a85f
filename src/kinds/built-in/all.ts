import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { admissionregistrationKinds } from "./admissionregistration/group.ts";
import { apiextensionsKinds } from "./apiextensions/group.ts";
import { apiregistrationKinds } from "./apiregistration/group.ts";
import { appsKinds } from "./apps/group.ts";
import { authenticationKinds } from "./authentication/group.ts";
import { authorizationKinds } from "./authorization/group.ts";
import { autoscalingKinds } from "./autoscaling/group.ts";
import { batchKinds } from "./batch/group.ts";
import { certificatesKinds } from "./certificates/group.ts";
import { coordinationKinds } from "./coordination/group.ts";
import { coreKinds } from "./core/group.ts";
import { discoveryKinds } from "./discovery/group.ts";
import { eventsKinds } from "./events/group.ts";
import { flowcontrolKinds } from "./flowcontrol/group.ts";
import { internalApiserverKinds } from "./internal-apiserver/group.ts";
import { lifecycleKinds } from "./lifecycle/group.ts";
import { metricsKinds } from "./metrics/group.ts";
import { networkingKinds } from "./networking/group.ts";
import { nodeKinds } from "./node/group.ts";
import { policyKinds } from "./policy/group.ts";
import { rbacKinds } from "./rbac/group.ts";
import { resourceKinds } from "./resource/group.ts";
import { storageVersionHash } from "./row.ts";
import { schedulingKinds } from "./scheduling/group.ts";
import { storageKinds } from "./storage/group.ts";
import { storagemigrationKinds } from "./storagemigration/group.ts";

/** groupPriorityMinimum and versionPriority of a group version; higher numbers come first in discovery. */
export interface GroupVersionPriority {
  readonly group: number;
  readonly version: number;
}

/** The priority of group versions of CustomResourceDefinitions. */
export const CUSTOM_PRIORITY: GroupVersionPriority = { group: 1000, version: 100 };

interface BuiltInGroup {
  readonly kinds: readonly ResourceDefinition[];
  readonly priority: number;
  readonly versions: Readonly<Record<string, number>>;
}

/** Every built-in group, in discovery order. */
const GROUPS: readonly BuiltInGroup[] = [
  // Compat: apiregistration.k8s.io has no APIService of its own; kube-aggregator puts it before all that have one.
  { kinds: apiregistrationKinds, priority: 20000, versions: { v1: 15 } },
  { kinds: coreKinds, priority: 18000, versions: { v1: 1 } },
  { kinds: appsKinds, priority: 17800, versions: { v1: 15 } },
  { kinds: eventsKinds, priority: 17750, versions: { v1: 15 } },
  { kinds: authenticationKinds, priority: 17700, versions: { v1: 15 } },
  { kinds: authorizationKinds, priority: 17600, versions: { v1: 15 } },
  { kinds: autoscalingKinds, priority: 17500, versions: { v2: 30, v1: 15 } },
  { kinds: batchKinds, priority: 17400, versions: { v1: 15 } },
  { kinds: certificatesKinds, priority: 17300, versions: { v1: 15, v1beta1: 9, v1alpha1: 1 } },
  { kinds: networkingKinds, priority: 17200, versions: { v1: 15, v1beta1: 9 } },
  { kinds: policyKinds, priority: 17100, versions: { v1: 15 } },
  { kinds: rbacKinds, priority: 17000, versions: { v1: 15 } },
  { kinds: storageKinds, priority: 16800, versions: { v1: 15, v1beta1: 9 } },
  { kinds: admissionregistrationKinds, priority: 16700, versions: { v1: 15, v1beta1: 12, v1alpha1: 9 } },
  { kinds: apiextensionsKinds, priority: 16700, versions: { v1: 15 } },
  { kinds: schedulingKinds, priority: 16600, versions: { v1: 15, v1beta1: 9, v1alpha3: 3, v1alpha2: 2, v1alpha1: 1 } },
  { kinds: coordinationKinds, priority: 16500, versions: { v1: 15, v1beta1: 13, v1alpha2: 12 } },
  { kinds: nodeKinds, priority: 16300, versions: { v1: 15 } },
  { kinds: discoveryKinds, priority: 16200, versions: { v1: 15 } },
  { kinds: resourceKinds, priority: 16200, versions: { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 } },
  { kinds: flowcontrolKinds, priority: 16100, versions: { v1: 21 } },
  { kinds: internalApiserverKinds, priority: 16000, versions: { v1alpha1: 9 } },
  { kinds: storagemigrationKinds, priority: 15800, versions: { v1: 15, v1beta1: 9 } },
  { kinds: lifecycleKinds, priority: 15700, versions: { v1alpha1: 1 } },
];

/** Groups that extension servers of a common cluster serve, and this server on demand. */
const ADD_ONS: readonly BuiltInGroup[] = [{ kinds: metricsKinds, priority: 100, versions: { v1beta1: 100 } }];

/** The suffix of the built-in API groups that have one. */
const DOMAIN = "k8s.io";

function rename(text: string, apiDomain: string): string {
  return text.replace(/\.k8s\.io(?=\/|$)/, `.${apiDomain}`);
}

function renameDefinition(definition: ResourceDefinition, apiDomain: string): ResourceDefinition {
  const { group, storage, kind } = definition;
  const subresources = Object.entries(definition.subresources).map(([name, subresource]) => {
    const other = subresource.kind;
    return [name, other ? { ...subresource, kind: { ...other, group: rename(other.group, apiDomain) } } : subresource];
  });
  const versions = definition.versions.map((version) => {
    const { deprecation } = version;
    if (deprecation?.replacement === undefined) return version;
    const replacement = deprecation.replacement.split(" ").map((word) => rename(word, apiDomain));
    return { ...version, deprecation: { ...deprecation, replacement: replacement.join(" ") } };
  });
  const renamed = {
    ...definition,
    group: rename(group, apiDomain),
    versions,
    subresources: Object.fromEntries(subresources),
  };
  if (storage === undefined || storage.group !== undefined) return renamed;
  return { ...renamed, storage: { ...storage, hash: storageVersionHash(renamed.group, storage.version, kind) } };
}

/**
 * Every built-in kind, in discovery order. `apiDomain` replaces `k8s.io` in the names of groups. `eventTtlSeconds` is
 * the TTL of kinds whose objects expire. `hasAddOns` adds the kinds of add-ons.
 */
export function builtInKinds(
  apiDomain: string = DOMAIN,
  eventTtlSeconds?: number,
  hasAddOns = false,
): ResourceDefinition[] {
  const groups = hasAddOns ? [...GROUPS, ...ADD_ONS] : GROUPS;
  const kinds = groups.flatMap((group) => group.kinds).map((definition) => withTtl(definition, eventTtlSeconds));
  return apiDomain === DOMAIN ? kinds : kinds.map((definition) => renameDefinition(definition, apiDomain));
}

function withTtl(definition: ResourceDefinition, ttlSeconds: number | undefined): ResourceDefinition {
  if (ttlSeconds === undefined || definition.rules.ttlSeconds === undefined) return definition;
  // Compat: `--event-ttl 0` keeps Events for ever; kube-apiserver then writes them without a lease.
  return { ...definition, rules: { ...definition.rules, ttlSeconds: ttlSeconds === 0 ? undefined : ttlSeconds } };
}

/**
 * Returns a function for the priority of each group version in discovery; unknown ones get that of
 * CustomResourceDefinitions.
 */
export function builtInPriorities(
  apiDomain: string = DOMAIN,
): (group: string, version: string) => GroupVersionPriority {
  const known = new Map<string, GroupVersionPriority>();
  for (const { kinds, priority, versions } of [...GROUPS, ...ADD_ONS]) {
    const group = rename(kinds[0]?.group ?? "", apiDomain);
    for (const [version, order] of Object.entries(versions))
      known.set(`${group}/${version}`, { group: priority, version: order });
  }
  return (group, version) => known.get(`${group}/${version}`) ?? CUSTOM_PRIORITY;
}
