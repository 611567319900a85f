import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { Random } from "../random.ts";
import type { Collection, NamespaceView } from "./cluster-view.ts";
import type { EventRule } from "./event-counts.ts";
import { type Clean, podText } from "./snapshot.ts";

/** An HTTP request. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Content type. Default: JSON. */
  readonly type?: string;
}

/** The same change in both clusters. Names of Pods differ between them. */
export interface Step {
  readonly title: string;
  requests(cluster: ClusterNamespace): Request[];
}

/** A namespace in one of the two clusters. */
export interface ClusterNamespace {
  readonly view: NamespaceView;
  readonly clean: Clean;
}

/** What the next step is chosen from. Both clusters agree on it. */
export interface World extends ClusterNamespace {
  readonly namespace: string;
  readonly nodes: readonly string[];
  readonly random: Random;
  /** Counts up within a sequence. */
  nextNumber(): number;
}

/** A possible change of one object. */
export interface Action<T extends KubeObject = KubeObject> {
  /** How often it is chosen, relative to others. */
  readonly weight: number;
  /** Undefined if it is not possible now. */
  plan(world: World, target: T): Step | undefined;
}

/** A cluster-scoped object. */
export interface Fixture {
  /** Of its collection. */
  readonly path: string;
  readonly body: { readonly metadata: { readonly name: string } };
}

/** A kind of workloads, as data of the fuzzer. */
export interface WorkloadKind<T extends KubeObject = KubeObject> {
  readonly collection: Collection;
  /** Its objects create no Pods. Sequences of such kinds create more objects. */
  readonly isSmall?: true;
  /** Controllers of kube-controller-manager that the clusters run from different programs. */
  readonly controllers: readonly string[];
  /** Sources of Events that are compared. */
  readonly components: readonly string[];
  readonly eventRules?: Readonly<Record<string, EventRule>>;
  /** Cluster-scoped objects that sequences need, for as long as they run. */
  fixtures?(namespace: string): readonly Fixture[];
  /** Whether a new object has the same effect in both clusters. Default: always. */
  canCreate?(world: World): boolean;
  /** It acts on objects of other kinds, so one of those is created first. */
  readonly isDependent?: true;
  /** Members of the body of a new object. */
  create(world: World, name: string): { metadata?: object } & JsonObject;
  /** Whether steps may change an object. Default: all may. */
  isTarget?(object: T): boolean;
  readonly actions: readonly Action<T>[];
  /** Whether its controller has nothing to do for the object any more. */
  isSettled(object: T, view: NamespaceView): boolean;
}

/** Path of an object or collection in the namespace of the world. */
export function pathOf({ namespace }: World, { root, plural, isClusterScoped }: Collection, name?: string): string {
  const where = isClusterScoped ? "" : `/namespaces/${namespace}`;
  return `${root}${where}/${plural}${name === undefined ? "" : `/${name}`}`;
}

/** Content types of patches. */
export const STRATEGIC = "application/strategic-merge-patch+json";
const MERGE = "application/merge-patch+json";

/** A step that merges a change into an object. */
export function mergeStep(world: World, title: string, collection: Collection, object: KubeObject, body: object): Step {
  const path = pathOf(world, collection, object.metadata.name);
  return {
    title: `${title} ${object.kind} ${object.metadata.name} ${JSON.stringify(body)}`,
    requests: () => [{ method: "PATCH", path, body, type: MERGE }],
  };
}

/** Chooses a Pod that looks the same in both clusters. */
export function podStep(
  world: World,
  title: string,
  isWanted: (pod: Pod) => boolean,
  requestsFor: (path: string, pod: Pod) => Request[],
): Step | undefined {
  const groups = podGroups(world, isWanted);
  if (groups.size === 0) return undefined;
  const text = world.random.pick([...groups.keys()].sort());
  const index = world.random.below(groups.get(text)?.length ?? 0);
  const name = world.clean(groups.get(text)?.[index]?.metadata.name ?? "");
  return {
    title: `${title} Pod ${name}`,
    requests: (cluster) => {
      const pod = podGroups(cluster, isWanted).get(text)?.[index];
      if (pod === undefined) throw new Error(`there is no Pod ${text}`);
      return requestsFor(`/api/v1/namespaces/${world.namespace}/pods/${pod.metadata.name}`, pod);
    },
  };
}

function podGroups({ view, clean }: ClusterNamespace, isWanted: (pod: Pod) => boolean): Map<string, Pod[]> {
  const pods = (view.of("Pod") as Pod[])
    .filter(isWanted)
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  return Map.groupBy(pods, (pod) => podText(pod, clean));
}
