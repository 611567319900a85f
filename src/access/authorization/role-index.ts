import { type ApiError, notFound, plainError } from "../../base/api/api-error.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { quote } from "../../base/go/quote.ts";
import { runTogether } from "../../base/util/run-together.ts";
import type { Binding, Role } from "../../kinds/types/rbac.ts";
import type { ResourceContext } from "../../resources/context.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { EntryReadings } from "../../resources/read/entry-readings.ts";
import { StoredIndex } from "../../resources/read/stored-index.ts";
import type { Entry } from "../../storage/store.ts";
import { BindingsBySubject, type KnownBinding, knownBinding } from "./bindings-by-subject.ts";
import { CompiledRule } from "./policy-rules.ts";

const GROUP = "rbac.authorization.k8s.io";

/** The rules that a binding grants, or the error why it grants none. */
export interface Grant {
  readonly binding: KnownBinding;
  readonly rules: readonly CompiledRule[] | ApiError;
}

/** The parts of the resources that a RoleIndex needs. */
export type RoleSource = Pick<ResourceContext, "store" | "keys" | "codec" | "catalog">;

const knownRules = new EntryReadings<readonly CompiledRule[]>();
const knownBindings = new EntryReadings<KnownBinding>();

/**
 * The stored Roles, ClusterRoles and bindings. Each kind is kept up to date by a watch, so that no decision reads the
 * store.
 */
export class RoleIndex {
  readonly #source: RoleSource;
  readonly #roles: StoredIndex<readonly CompiledRule[]>;
  readonly #clusterRoles: StoredIndex<readonly CompiledRule[]>;
  readonly #bindings: StoredIndex<KnownBinding, BindingsBySubject>;
  readonly #clusterBindings: StoredIndex<KnownBinding, BindingsBySubject>;
  readonly #rolePrefix: string;
  readonly #clusterRolePrefix: string;
  readonly #group: string;

  constructor(source: RoleSource) {
    this.#source = source;
    const { store, keys, codec, catalog } = source;
    const prefix = (plural: string) => keys.prefix(storedResource(catalog, GROUP, plural).definition);
    const readRules = (entry: Entry) => ((codec.read(entry) as Role).rules ?? []).map((rule) => new CompiledRule(rule));
    const roles = (plural: string) =>
      new StoredIndex({ store, prefix: prefix(plural), read: (entry) => knownRules.of(entry, readRules) });
    const bindings = (plural: string, kind: KnownBinding["kind"]) =>
      new StoredIndex({
        store,
        prefix: prefix(plural),
        read: (entry) => knownBindings.of(entry, () => knownBinding(kind, codec.read(entry) as Binding)),
        derive: () => new BindingsBySubject(),
      });
    this.#roles = roles("roles");
    this.#clusterRoles = roles("clusterroles");
    this.#bindings = bindings("rolebindings", "RoleBinding");
    this.#clusterBindings = bindings("clusterrolebindings", "ClusterRoleBinding");
    this.#rolePrefix = prefix("roles");
    this.#clusterRolePrefix = prefix("clusterroles");
    this.#group = storedResource(catalog, GROUP, "roles").definition.group;
  }

  get #indexes(): readonly Pick<StoredIndex<unknown>, "run" | "waitFor">[] {
    return [this.#roles, this.#clusterRoles, this.#bindings, this.#clusterBindings];
  }

  /** Watches the store until the signal aborts. Rejects if a watch fails; it may be called again then. */
  run(signal: AbortSignal): Promise<void> {
    const runs = this.#indexes.map((index) => (either: AbortSignal) => index.run(either));
    return runTogether(runs, signal);
  }

  /** Resolves when the index has reached the store's current revision. */
  async loaded(signal: AbortSignal): Promise<void> {
    const revision = await this.#source.store.revision();
    await Promise.all(this.#indexes.map((index) => index.waitFor(revision, signal)));
  }

  /**
   * The grants of a user: those of cluster role bindings, then those of the namespace, if given. A binding that matches
   * the user several times may occur several times.
   */
  *grants(user: UserInfo, namespace: string): Generator<Grant> {
    for (const list of this.#clusterBindings.derived?.of(user, "") ?? []) {
      for (const binding of list) yield { binding, rules: this.rulesOf(binding.roleRef, "") };
    }
    if (namespace === "") return;
    for (const list of this.#bindings.derived?.of(user, namespace) ?? []) {
      for (const binding of list) yield { binding, rules: this.rulesOf(binding.roleRef, namespace) };
    }
  }

  /** The grants of a user in all other namespaces. */
  *grantsElsewhere(user: UserInfo, namespace: string): Generator<Grant> {
    for (const list of this.#bindings.derived?.elsewhere(user, namespace) ?? []) {
      for (const binding of list) yield { binding, rules: this.rulesOf(binding.roleRef, binding.namespace) };
    }
  }

  /** The rules of the role that a binding in a namespace refers to. Upstream: `GetRoleReferenceRules`. */
  rulesOf({ kind, name }: KnownBinding["roleRef"], namespace: string): readonly CompiledRule[] | ApiError {
    if (kind === "ClusterRole") {
      return this.#clusterRoles.items.get(this.#clusterRolePrefix + name) ?? this.#missing("clusterrole", name);
    }
    if (kind === "Role") {
      return this.#roles.items.get(`${this.#rolePrefix}${namespace}/${name}`) ?? this.#missing("role", name);
    }
    return plainError(500, `unsupported role reference kind: ${quote(kind)}`);
  }

  #missing(resource: string, name: string): ApiError {
    return notFound({ group: this.#group, resource }, name);
  }
}
