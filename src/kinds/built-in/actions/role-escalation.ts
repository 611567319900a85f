import { isDeepStrictEqual } from "node:util";
import { forbidden, notFound, plainError } from "../../../base/api/api-error.ts";
import { resourceAttributes } from "../../../base/api/attributes.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { quote } from "../../../base/go/quote.ts";
import type { ReserveAction, ReservingWrite } from "../../../resources/model/actions.ts";
import type { Binding, PolicyRule, Role } from "../../types/rbac.ts";
import { type RuleAtom, uncoveredRules } from "../../types/rbac-covers.ts";
import type { RoleRights } from "../../types/role-rights.ts";

const PRIVILEGED_GROUP = "system:masters";

/** Rules are compared in atoms, and three short lists can have billions of atoms. */
const MAX_ATOMS = 100_000;

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

interface Writer {
  readonly user: UserInfo;
  readonly group: string;
  /** The resource that is written. */
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Allows a Role or ClusterRole to have only permissions of its writer, unless the writer may escalate. Reserves
 * nothing.
 */
export function checkRole(plural: "roles" | "clusterroles", rights: () => RoleRights): ReserveAction {
  return async (write) => {
    const writer = writerOf(write, plural);
    if (writer === undefined || (await mayEscalate(rights(), writer, write.requestName))) return undefined;
    const next = write.next as Role;
    const previous = write.previous as Role | undefined;
    if (previous && isOnlyForCollector(next, previous)) return undefined;
    await confirm(rights(), writer, next.rules ?? []);
    if (next.aggregationRule === undefined && previous?.aggregationRule === undefined) return undefined;
    await confirm(rights(), writer, FULL_AUTHORITY, "must have cluster-admin privileges to use the aggregationRule");
    return undefined;
  };
}

/**
 * Allows a binding to grant only a role whose rules its writer has, unless the writer may bind it. Reserves nothing.
 */
export function checkBinding(plural: "rolebindings" | "clusterrolebindings", rights: () => RoleRights): ReserveAction {
  return async (write) => {
    const writer = writerOf(write, plural);
    if (writer === undefined) return undefined;
    const { kind = "", name = "", apiGroup = "" } = (write.next as Binding).roleRef ?? {};
    if (write.previous && isOnlyForCollector(write.next as KubeObject, write.previous)) return undefined;
    if (await mayBind(rights(), writer, { kind, name, apiGroup })) return undefined;
    if (kind !== "Role" && kind !== "ClusterRole") {
      throw plainError(500, `unsupported role reference kind: ${quote(kind)}`);
    }
    const rules = await rights().rulesOfRole({ kind, name }, writer.namespace);
    // Compat: the 404 names the resource of the request, which `qualifiedResourceFromContext` takes for the role's.
    if (rules === undefined) throw notFound({ group: writer.group, resource: plural }, name);
    await confirm(rights(), writer, rules);
    return undefined;
  };
}

/**
 * The user and the object written; undefined if there is nothing to check: the server itself, `system:masters`, a
 * deletion.
 */
function writerOf({ next, context }: ReservingWrite, plural: string): Writer | undefined {
  const { user, apiVersion } = context;
  if (next === undefined || user === undefined || user.groups.includes(PRIVILEGED_GROUP)) return undefined;
  const { namespace = "", name = "" } = next.metadata;
  return { user, group: apiVersion.split("/")[0] ?? "", plural, namespace, name };
}

/** Compat: `RoleEscalationAuthorized` authorizes the name in the path, which a POST does not have. */
async function mayEscalate({ authorizer }: RoleRights, writer: Writer, requestName: string): Promise<boolean> {
  const { user, group, plural, namespace } = writer;
  const wanted = { verb: "escalate", apiGroup: group, resource: plural, namespace, name: requestName };
  return (await authorizer.authorize(resourceAttributes(user, wanted))).decision === "allow";
}

async function mayBind(
  { authorizer }: RoleRights,
  { user, namespace }: Writer,
  roleRef: { kind: string; name: string; apiGroup: string },
): Promise<boolean> {
  const resource = roleRef.kind === "ClusterRole" ? "clusterroles" : roleRef.kind === "Role" ? "roles" : undefined;
  if (resource === undefined) return false;
  const wanted = { verb: "bind", apiGroup: roleRef.apiGroup, resource, namespace, name: roleRef.name };
  return (await authorizer.authorize(resourceAttributes(user, wanted))).decision === "allow";
}

/** Compat: changes of the garbage collector are not checked (`IsOnlyMutatingGCFields`). */
function isOnlyForCollector(next: KubeObject, previous: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = previous.metadata;
  const kept = { ownerReferences, finalizers, managedFields };
  return (
    isDeepStrictEqual(withoutUndefined({ ...next.metadata, ...kept }), withoutUndefined(previous.metadata)) &&
    isDeepStrictEqual({ ...next, metadata: {} }, { ...previous, metadata: {} })
  );
}

function withoutUndefined(metadata: object): object {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}

/** Rejects rules that the writer does not have, with the message of `ConfirmNoEscalation` or the given one. */
async function confirm(
  rights: RoleRights,
  { user, group, plural, namespace, name }: Writer,
  rules: readonly PolicyRule[],
  refusal?: string,
): Promise<void> {
  const { rules: held, missing } = await rights.heldRules(user, namespace);
  const uncovered = uncoveredRules(held, rules, MAX_ATOMS);
  if (uncovered?.length === 0) return;
  const groups = user.groups.map(quote).join(" ");
  const attempt = `user ${quote(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:`;
  const list = uncovered === undefined ? `more than ${MAX_ATOMS} combinations in one role` : describe(uncovered);
  const texts = [...new Set(missing)].map((role) => notFound({ group, resource: plural }, role).message);
  const errors = texts.length > 1 ? `[${texts.join(", ")}]` : texts.join("");
  const resolution = texts.length === 0 ? "" : `; resolution errors: [${errors}]`;
  throw forbidden({ group, resource: plural }, name, refusal ?? `${attempt}\n${list}${resolution}`);
}

/**
 * One line per rule, sorted; verbs of the same resource and name are merged into one rule. Upstream: `CompactRules`.
 */
function describe(atoms: readonly RuleAtom[]): string {
  const merged = new Map<string, RuleAtom & { verbs: string[] }>();
  for (const { verbs = [], ...atom } of atoms) {
    // Rules with a nonResourceURL are not merged.
    const key = JSON.stringify(atom.nonResourceURLs ? [atom, verbs] : atom);
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { ...atom, verbs: [...verbs] });
    else if (!known.verbs.includes(verbs[0] ?? "")) known.verbs.push(verbs[0] ?? "");
  }
  return [...new Set([...merged.values()].map(printRule))].sort().join("\n");
}

const PRINTED = [
  ["APIGroups", "apiGroups"],
  ["Resources", "resources"],
  ["NonResourceURLs", "nonResourceURLs"],
  ["ResourceNames", "resourceNames"],
  ["Verbs", "verbs"],
] as const;

/** Compat: `CompactString` of a PolicyRule. */
function printRule(rule: PolicyRule): string {
  const parts = PRINTED.flatMap(([title, member]) => {
    const values = rule[member] ?? [];
    return values.length === 0 ? [] : [`${title}:[${values.map(quote).join(" ")}]`];
  });
  return `{${parts.join(", ")}}`;
}
