import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Binding, Role, Subject } from "../../../kinds/types/rbac.ts";
import { uncoveredRules } from "../../../kinds/types/rbac-covers.ts";

/** The annotation that disables reconciliation of an object with the value "false". */
const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

/** The write that brings an object to its expected state. */
export type RoleChange<T extends KubeObject> =
  | { readonly type: "none" }
  | { readonly type: "update"; readonly object: T }
  /** The object must be deleted first: roleRef is immutable. */
  | { readonly type: "recreate"; readonly object: T };

const NOTHING = { type: "none" } as const;

/** Adds missing rules, selectors, labels and annotations to a role. Upstream: `computeReconciledRole`. */
export function reconcileRole(existing: Role, expected: Role): RoleChange<Role> {
  if (isProtected(existing)) return NOTHING;
  const next: Role = { ...existing, metadata: mergedMetadata(existing, expected) };
  const missing = uncoveredRules(existing.rules ?? [], expected.rules ?? []) ?? [];
  if (missing.length > 0) next.rules = [...(existing.rules ?? []), ...missing];
  if (expected.aggregationRule === undefined) delete next.aggregationRule;
  else {
    const known = existing.aggregationRule?.clusterRoleSelectors ?? [];
    const lacking = (expected.aggregationRule.clusterRoleSelectors ?? []).filter(
      (selector) => !known.some((one) => isDeepStrictEqual(one, selector)),
    );
    if (lacking.length > 0) next.aggregationRule = { clusterRoleSelectors: [...known, ...lacking] };
  }
  return isDeepStrictEqual(next, existing) ? NOTHING : { type: "update", object: next };
}

/** Adds missing subjects, labels and annotations to a binding. Upstream: `computeReconciledRoleBinding`. */
export function reconcileBinding(existing: Binding, expected: Binding): RoleChange<Binding> {
  if (isProtected(existing)) return NOTHING;
  if (!isDeepStrictEqual(existing.roleRef, expected.roleRef)) return { type: "recreate", object: expected };
  const next: Binding = { ...existing, metadata: mergedMetadata(existing, expected) };
  const known = existing.subjects ?? [];
  const missing = (expected.subjects ?? []).filter((subject) => !known.some((one) => isSameSubject(one, subject)));
  if (missing.length > 0) next.subjects = [...known, ...missing];
  return isDeepStrictEqual(next, existing) ? NOTHING : { type: "update", object: next };
}

function isProtected({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[AUTO_UPDATE] === "false";
}

function isSameSubject(one: Subject, other: Subject): boolean {
  return (["kind", "apiGroup", "name", "namespace"] as const).every(
    (member) => (one[member] ?? "") === (other[member] ?? ""),
  );
}

/** Compat: existing labels and annotations are kept, missing ones are added (`merge`). */
function mergedMetadata(existing: KubeObject, expected: KubeObject): KubeObject["metadata"] {
  const { labels, annotations } = existing.metadata;
  return {
    ...existing.metadata,
    labels: { ...expected.metadata.labels, ...labels },
    annotations: { ...expected.metadata.annotations, ...annotations },
  };
}
