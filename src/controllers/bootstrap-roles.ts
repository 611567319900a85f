import type { KubeObject } from "../api/object.ts";
import { cloneJson } from "../lib/clone.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import { storedResource } from "../resources/model/stored-resource.ts";
import type { PolicyRule } from "../types/rbac.ts";
import policy from "./bootstrap-policy.json" with { type: "json" };
import { type ControllerContext, unlessCode } from "./controller.ts";
import { forEachLimited } from "./for-each-limited.ts";
import { type RoleChange, reconcileBinding, reconcileRole } from "./reconcile-roles.ts";
import { readObject } from "./stored-kinds.ts";

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

/** Bindings come after the roles they name. */
const KEPT: readonly Kept[] = [
  { plural: "clusterroles", kind: "ClusterRole", reconcile: reconcileRole },
  { plural: "clusterrolebindings", kind: "ClusterRoleBinding", reconcile: reconcileBinding },
  { plural: "roles", kind: "Role", reconcile: reconcileRole },
  { plural: "rolebindings", kind: "RoleBinding", reconcile: reconcileBinding },
];

/** The rules that a ClusterRole of every cluster begins with. Throws when there is none of that name. */
export function bootstrapRules(name: string): readonly PolicyRule[] {
  const role = policy.clusterroles.find(({ metadata }) => metadata.name === name);
  if (role === undefined) throw new Error(`no bootstrap role is called ${name}`);
  return (role.rules ?? []) as readonly PolicyRule[];
}

/**
 * kube-apiserver's post-start hook rbac/bootstrap-roles: makes the roles and bindings that Kubernetes needs, and adds
 * what they lack. What somebody added to them stays. What fails is reported and tried again. Resolves to true when all
 * are there, to false when the signal aborts before.
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
    // Another replica may start at the same moment.
    await client.create(resource, cloneJson(expected)).catch(unlessCode(409));
  }

  /** An object of the data as it is served: groups may be served under another API domain. */
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

/** Built-in groups by the names that they have under k8s.io, where they are served under another domain. */
function servedGroups({ resources }: ControllerContext): ReadonlyMap<string, string> {
  const { group } = storedResource(resources.catalog, GROUP, "roles").definition;
  const domain = group.slice("rbac.authorization.".length);
  if (domain === DOMAIN) return new Map();
  const served = resources.catalog.definitions.map((definition) => definition.group);
  const own = served.filter((name) => name.endsWith(`.${domain}`));
  return new Map(own.map((name) => [name.slice(0, -domain.length) + DOMAIN, name]));
}
