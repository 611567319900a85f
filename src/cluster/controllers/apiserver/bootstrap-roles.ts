import { bootstrapPolicy as policy } from "../../../access/authorization/bootstrap-policy.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { forEachLimited } from "../../../base/util/for-each-limited.ts";
import type { PolicyRule } from "../../../kinds/types/rbac.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { type ControllerContext, unlessCode } from "../shared/controller.ts";
import { type RoleChange, reconcileBinding, reconcileRole } from "./reconcile-roles.ts";

const NAME = "rbac/bootstrap-roles";
const GROUP = "rbac.authorization.k8s.io";
const DOMAIN = "k8s.io";
const CONCURRENCY = 16;
const RETRY_MS = 1000;

interface Kept {
  readonly plural: keyof typeof policy;
  readonly kind: string;
  readonly reconcile: (existing: KubeObject, expected: KubeObject) => RoleChange<KubeObject>;
}

/** Bindings come after the roles that they refer to. */
const KEPT: readonly Kept[] = [
  { plural: "clusterroles", kind: "ClusterRole", reconcile: reconcileRole },
  { plural: "clusterrolebindings", kind: "ClusterRoleBinding", reconcile: reconcileBinding },
  { plural: "roles", kind: "Role", reconcile: reconcileRole },
  { plural: "rolebindings", kind: "RoleBinding", reconcile: reconcileBinding },
];

/**
 * kube-apiserver's post-start hook rbac/bootstrap-roles: creates the roles and bindings that Kubernetes needs, and adds
 * missing rules and subjects. Additions by users are kept. Failures are reported and retried. Resolves to true when all
 * objects exist, or to false if the signal aborts before.
 */
export async function bootstrapRoles(context: ControllerContext, signal: AbortSignal): Promise<boolean> {
  const policies = new BootstrapPolicy(context);
  while (!signal.aborted) {
    try {
      await policies.reconcile();
      return true;
    } catch (error) {
      context.report(NAME, error);
      await context.resources.clock.sleep(RETRY_MS, signal);
    }
  }
  return false;
}

class BootstrapPolicy {
  readonly #context: ControllerContext;
  readonly #groups: ReadonlyMap<string, string>;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#groups = servedGroups(context);
  }

  async reconcile(): Promise<void> {
    for (const kept of KEPT) await this.#reconcileAll(kept);
  }

  async #reconcileAll({ plural, kind, reconcile }: Kept): Promise<void> {
    const { store, keys, codec, catalog } = this.#context.resources;
    const resource = storedResource(catalog, GROUP, plural);
    const { entries } = await store.list(keys.prefix(resource.definition));
    const stored = new Map(entries.map((entry) => [entry.key, entry]));
    const wanted = (policy[plural] as unknown as KubeObject[]).map((object) => this.#typed(object, kind, resource));
    await forEachLimited(wanted, CONCURRENCY, async (expected) => {
      const { namespace = "", name = "" } = expected.metadata;
      const entry = stored.get(keys.key(resource.definition, { namespace, name }));
      const existing = entry && readObject(codec, entry);
      await this.#write(resource, existing, existing ? reconcile(existing, expected) : undefined, expected);
    });
  }

  async #write(
    resource: ServedResource,
    existing: KubeObject | undefined,
    change: RoleChange<KubeObject> | undefined,
    expected: KubeObject,
  ): Promise<void> {
    const { client } = this.#context;
    const { namespace = "", name = "", uid } = existing?.metadata ?? {};
    if (change?.type === "none") return;
    if (change?.type === "update") {
      await client.update(resource, cloneJson(change.object));
      return;
    }
    if (change?.type === "recreate") {
      await client.delete(resource, { namespace, name }, { preconditions: { uid } }).catch(unlessCode(404));
    }
    // Another replica may start at the same time.
    await client.create(resource, cloneJson(expected)).catch(unlessCode(409));
  }

  /** Adapts an object of the policy file to the served groups, which may have another API domain. */
  #typed(object: KubeObject, kind: string, { apiVersion }: ServedResource): KubeObject {
    const groups = this.#groups;
    const named = { ...object, kind, apiVersion };
    if (groups.size === 0) return named;
    const rename = (group: string) => groups.get(group) ?? group;
    const copy = cloneJson(named) as KubeObject & { rules?: PolicyRule[] };
    for (const rule of copy.rules ?? []) if (rule.apiGroups) rule.apiGroups = rule.apiGroups.map(rename);
    for (const one of [copy.roleRef, ...((copy.subjects as unknown[]) ?? [])] as (
      | { apiGroup?: string }
      | undefined
    )[]) {
      if (one?.apiGroup !== undefined) one.apiGroup = rename(one.apiGroup);
    }
    return copy;
  }
}

/** Maps built-in groups from their k8s.io names to the served ones. Empty if the API domain is k8s.io. */
function servedGroups({ resources }: ControllerContext): ReadonlyMap<string, string> {
  const { group } = storedResource(resources.catalog, GROUP, "roles").definition;
  const domain = group.slice("rbac.authorization.".length);
  if (domain === DOMAIN) return new Map();
  const served = resources.catalog.definitions.map((definition) => definition.group);
  const own = served.filter((name) => name.endsWith(`.${domain}`));
  return new Map(own.map((name) => [name.slice(0, -domain.length) + DOMAIN, name]));
}
