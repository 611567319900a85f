import type { UserInfo } from "../../base/api/user-info.ts";
import { quote } from "../../base/go/quote.ts";
import type { Binding, RoleRef, Subject } from "../../kinds/types/rbac.ts";
import type { Derivation } from "../../resources/read/stored-index.ts";

/** The indexed part of a RoleBinding or ClusterRoleBinding. */
export interface KnownBinding {
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: Required<Pick<RoleRef, "kind" | "name">>;
  readonly subjects: readonly Subject[];
}

/** Extracts the indexed part of a stored binding. */
export function knownBinding(kind: KnownBinding["kind"], { metadata, roleRef, subjects }: Binding): KnownBinding {
  const { kind: roleKind = "", name = "" } = roleRef ?? {};
  return {
    kind,
    name: metadata.name ?? "",
    namespace: metadata.namespace ?? "",
    roleRef: { kind: roleKind, name },
    subjects: subjects ?? [],
  };
}

/**
 * Bindings by subject, so that a decision only reads the user's own bindings. The lists are per namespace (empty for
 * the cluster) and sorted by name.
 */
export class BindingsBySubject implements Derivation<KnownBinding> {
  readonly #byNamespace = new Map<string, Scope>();

  change(previous: KnownBinding | undefined, next: KnownBinding | undefined): void {
    if (previous) this.#remove(previous);
    if (next) this.#add(next);
  }

  /** The lists of bindings that apply to a user in a namespace. A binding may occur in several of them. */
  *of(user: UserInfo, namespace: string): Generator<readonly KnownBinding[]> {
    const scope = this.#byNamespace.get(namespace);
    if (scope === undefined) return;
    const own = scope.users.get(user.name);
    if (own) yield own;
    for (const group of user.groups) {
      const shared = scope.groups.get(group);
      if (shared) yield shared;
    }
  }

  /** The lists of bindings of a user in all other namespaces. */
  *elsewhere(user: UserInfo, namespace: string): Generator<readonly KnownBinding[]> {
    for (const other of this.#byNamespace.keys()) if (other !== namespace) yield* this.of(user, other);
  }

  #add(binding: KnownBinding): void {
    let scope = this.#byNamespace.get(binding.namespace);
    if (scope === undefined) {
      scope = { users: new Map(), groups: new Map() };
      this.#byNamespace.set(binding.namespace, scope);
    }
    for (const { map, key } of places(scope, binding)) {
      const list = map.get(key);
      if (list) insert(list, binding);
      else map.set(key, [binding]);
    }
  }

  #remove(binding: KnownBinding): void {
    const scope = this.#byNamespace.get(binding.namespace);
    if (scope === undefined) return;
    for (const { map, key } of places(scope, binding)) {
      const list = map.get(key) ?? [];
      const at = position(list, binding.name);
      if (list[at]?.name === binding.name) list.splice(at, 1);
      if (list.length === 0) map.delete(key);
    }
    if (scope.users.size === 0 && scope.groups.size === 0) this.#byNamespace.delete(binding.namespace);
  }
}

interface Scope {
  /** By user name, also for service accounts. */
  readonly users: Map<string, KnownBinding[]>;
  readonly groups: Map<string, KnownBinding[]>;
}

function* places(scope: Scope, { subjects, namespace }: KnownBinding) {
  for (const subject of subjects) {
    if (subject.kind === "Group") yield { map: scope.groups, key: subject.name ?? "" };
    else {
      const key = userOf(subject, namespace);
      if (key !== undefined) yield { map: scope.users, key };
    }
  }
}

function insert(list: KnownBinding[], binding: KnownBinding): void {
  const at = position(list, binding.name);
  // A binding may name a subject several times.
  if (list[at]?.name !== binding.name) list.splice(at, 0, binding);
}

/** The index of a name in a sorted list, or where to insert it. */
function position(list: readonly KnownBinding[], name: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.name ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The user name of a subject that is not a Group. Undefined for an invalid subject. */
function userOf({ kind, name = "", namespace = "" }: Subject, bindingNamespace: string): string | undefined {
  if (kind === "User") return name;
  const own = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && own !== "" ? `system:serviceaccount:${own}:${name}` : undefined;
}

/** The first subject of a binding that matches a user. Upstream: `appliesTo`. */
export function applyingSubject({ subjects, namespace }: KnownBinding, user: UserInfo): Subject | undefined {
  return subjects.find((subject) =>
    subject.kind === "Group" ? user.groups.includes(subject.name ?? "") : userOf(subject, namespace) === user.name,
  );
}

/** Formats a binding for the reason of a decision: `ClusterRoleBinding "b" of ClusterRole "r" to User "u"`. */
export function describeBinding(binding: KnownBinding, subject: Subject): string {
  const { kind, name, namespace, roleRef } = binding;
  const title = namespace === "" ? name : `${name}/${namespace}`;
  const subjectNamespace = subject.namespace || namespace;
  const who = subject.kind === "ServiceAccount" ? `${subject.name ?? ""}/${subjectNamespace}` : (subject.name ?? "");
  return `${kind} ${quote(title)} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(who)}`;
}
