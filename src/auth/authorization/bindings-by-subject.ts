import type { UserInfo } from "../../api/user-info.ts";
import { quote } from "../../lib/go/quote.ts";
import type { Derivation } from "../../resources/read/stored-index.ts";
import type { Binding, RoleRef, Subject } from "../../types/rbac.ts";

/** What is kept of a RoleBinding or ClusterRoleBinding. */
export interface KnownBinding {
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: Required<Pick<RoleRef, "kind" | "name">>;
  readonly subjects: readonly Subject[];
}

/** What is kept of a binding as it is stored. */
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
 * Bindings by whom they are for, so that a decision looks at nobody else's. Those of one namespace, or of the cluster
 * under the empty namespace, in the order of their names.
 */
export class BindingsBySubject implements Derivation<KnownBinding> {
  readonly #byNamespace = new Map<string, Scope>();

  change(previous: KnownBinding | undefined, next: KnownBinding | undefined): void {
    if (previous) this.#remove(previous);
    if (next) this.#add(next);
  }

  /** The lists of bindings that apply to a user in a namespace. A binding may stand in several of them. */
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
  /** Service accounts, too, by the names of their users. */
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
  // A binding may name one subject several times.
  if (list[at]?.name !== binding.name) list.splice(at, 0, binding);
}

/** Where a name stands, or would stand, in a list sorted by names. */
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

/** The name of the user that a subject other than a Group stands for; undefined when it stands for nobody. */
function userOf({ kind, name = "", namespace = "" }: Subject, bindingNamespace: string): string | undefined {
  if (kind === "User") return name;
  const own = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && own !== "" ? `system:serviceaccount:${own}:${name}` : undefined;
}

/** The first subject of a binding that a user is. Upstream: `appliesTo`. */
export function applyingSubject({ subjects, namespace }: KnownBinding, user: UserInfo): Subject | undefined {
  return subjects.find((subject) =>
    subject.kind === "Group" ? user.groups.includes(subject.name ?? "") : userOf(subject, namespace) === user.name,
  );
}

/** A binding in the words of the reason for what it allows: `ClusterRoleBinding "b" of ClusterRole "r" to User "u"`. */
export function describeBinding(binding: KnownBinding, subject: Subject): string {
  const { kind, name, namespace, roleRef } = binding;
  const title = namespace === "" ? name : `${name}/${namespace}`;
  const subjectNamespace = subject.namespace || namespace;
  const who = subject.kind === "ServiceAccount" ? `${subject.name ?? ""}/${subjectNamespace}` : (subject.name ?? "");
  return `${kind} ${quote(title)} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(who)}`;
}
