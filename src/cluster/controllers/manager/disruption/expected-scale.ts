import { groupOf, isObject, type KubeObject, type OwnerReference } from "../../../../base/api/object.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { pathOf } from "../../../../resources/model/resource-path.ts";
import { isStatus } from "../../shared/controller.ts";
import type { Informer } from "../../shared/informer.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf } from "../../shared/owners.ts";
import type { Expectation } from "./budget-status.ts";
import type { DisruptionBudget } from "./budget-types.ts";

/** An object that creates Pods. */
interface Scaled extends KubeObject {
  spec?: { replicas?: number };
}

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** The kinds whose scale is known without a request. Only the first group is served today. */
const KINDS = [
  { kind: "ReplicationController", groups: [""], plural: "replicationcontrollers" },
  { kind: "ReplicaSet", groups: ["apps", "extensions"], plural: "replicasets" },
  { kind: "Deployment", groups: ["apps", "extensions"], plural: "deployments" },
  { kind: "StatefulSet", groups: ["apps"], plural: "statefulsets" },
];
const DIRECT = new Set(["ReplicationController", "ReplicaSet", "StatefulSet"]);

/** Computes how many Pods the controllers of some Pods want. */
export class ExpectedScale {
  /** Of all kinds whose scale is known without a request. */
  readonly informers: readonly Informer<Scaled>[];
  readonly #context: ManagerContext;

  constructor(context: ManagerContext) {
    this.#context = context;
    this.informers = KINDS.map(({ groups, plural }) => context.informers.of<Scaled>(groups[0] ?? "", plural).informer);
  }

  /** How many Pods a budget wants. `unmanaged`: names of Pods without a controller that could not be counted. */
  async expect({ spec }: DisruptionBudget, pods: readonly Pod[]): Promise<Expectation & { unmanaged: string[] }> {
    const { minAvailable, maxUnavailable } = spec;
    if (maxUnavailable === undefined && typeof minAvailable === "number") {
      return { expected: pods.length, desired: minAvailable, unmanaged: [] };
    }
    const limit = maxUnavailable ?? minAvailable;
    if (limit === undefined) return { expected: 0, desired: 0, unmanaged: [] };
    const { expected, unmanaged } = await this.#sum(pods);
    const share = scaled(limit, expected);
    return { expected, desired: maxUnavailable === undefined ? share : Math.max(0, expected - share), unmanaged };
  }

  async #sum(pods: readonly Pod[]): Promise<{ expected: number; unmanaged: string[] }> {
    const scales = new Map<string, number>();
    const seen = new Set<string>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const { namespace = "", name = "" } = pod.metadata;
      const owner = controllerOf(pod);
      if (owner === undefined) unmanaged.push(name);
      if (owner === undefined || seen.has(owner.uid)) continue;
      const scale = this.#known(owner, namespace) ?? (await this.#read(owner, namespace));
      if (scale === undefined) throw new Error(`found no controllers for pod ${JSON.stringify(name)}`);
      scales.set(scale.uid, scale.replicas);
      seen.add(owner.uid);
    }
    return { expected: [...scales.values()].reduce((sum, count) => sum + count, 0), unmanaged };
  }

  /** The scale of a controller, or of the Deployment that controls it. */
  #known(owner: OwnerReference, namespace: string): Scale | undefined {
    const found = DIRECT.has(owner.kind) ? this.#find(owner, namespace) : undefined;
    const above = found && controllerOf(found);
    const controller = above?.kind === "Deployment" ? this.#find(above, namespace) : found;
    return controller && { uid: controller.metadata.uid ?? "", replicas: controller.spec?.replicas ?? 1 };
  }

  #find({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Scaled | undefined {
    const at = KINDS.findIndex((one) => one.kind === kind && one.groups.includes(groupOf(apiVersion)));
    const found = this.informers[at]?.get(`${namespace}/${name}`);
    return found?.metadata.uid === uid ? found : undefined;
  }

  /** Reads the scale of any other kind. Undefined if the controller does not exist. */
  async #read({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Promise<Scale | undefined> {
    const { client, resources } = this.#context;
    const resource = resources.catalog.findKind(apiVersion, kind);
    if (resource === undefined)
      throw new Error(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
    const { plural, group } = resource.definition;
    if (resource.subresources.scale === undefined) {
      throw new Error(`${plural}${group === "" ? "" : `.${group}`} does not implement the scale subresource`);
    }
    try {
      const { metadata, spec } = await client.read(pathOf(resource, { namespace, name }, "scale"));
      if (!isObject(metadata) || metadata.uid !== uid) return undefined;
      return { uid, replicas: isObject(spec) ? Number(spec.replicas ?? 0) : 0 };
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }
}

/** A number, or a percentage of the total, rounded up. */
function scaled(value: number | string, total: number): number {
  return typeof value === "string" ? Math.ceil((Number.parseInt(value, 10) * total) / 100) : value;
}
