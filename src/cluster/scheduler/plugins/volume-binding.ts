import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import { roundUp } from "../../../base/api/resource-amounts.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import { capacityOf, requestOf, reservedVolume, SELECTED_NODE } from "../../controllers/shared/volume-facts.ts";
import { AssumedObjects } from "../assumed-objects.ts";
import type { NodeInfo } from "../node-info.ts";
import { type Filter, MAX_SCORE, type MakePlugin, type Rejection, unresolvable } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import { type BindingContext, bindVolumes } from "./bind-volumes.ts";
import { NodeVolumeFinder, type NodeVolumes, type VolumeSource } from "./node-volumes.ts";
import { readPodClaims } from "./pod-volume-claims.ts";
import { interpolate, type ShapePoint } from "./resource-scores.ts";
import { bytesOf, capacityFinder } from "./storage-capacity.ts";
import { BINDING_EVENTS } from "./volume-binding-events.ts";

const NAME = "VolumeBinding";

/** VolumeBindingArgs of kubescheduler.config.k8s.io. */
export interface VolumeBindingArgs {
  readonly bindTimeoutSeconds?: number;
  /** The score by the percentage of a storage pool or volume that is used. */
  readonly shape?: readonly ShapePoint[];
}

/** Default arguments of VolumeBinding. */
export const VOLUME_ARGS = {
  bindTimeoutSeconds: 600,
  shape: [
    { utilization: 0, score: 10 },
    { utilization: 100, score: 0 },
  ],
} as const satisfies VolumeBindingArgs;

/** Index of volumes by class. */
const classOf = (volume: PersistentVolume) => [storageClassOf(volume)];

/** Differs: node affinity of in-tree volumes is not translated to labels of CSI drivers. */
export const volumeBinding: MakePlugin<VolumeBindingArgs> = (context, args) => {
  const { informers } = context;
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const { informer: classes } = informers.of<StorageClass>("storage.k8s.io", "storageclasses");
  const { bindTimeoutSeconds = VOLUME_ARGS.bindTimeoutSeconds, shape = VOLUME_ARGS.shape } = args;
  const byClass = volumes.index(classOf);
  const assumed = { claims: new AssumedObjects(claims), volumes: new AssumedObjects(volumes) };
  const source = {
    claim: (key: string) => assumed.claims.get(key),
    volume: (name: string) => assumed.volumes.get(name),
    storageClass: (name: string) => classes.get(name),
    volumesOfClass: (name: string) => [...byClass.get(name)].map((volume) => assumed.volumes.newest(volume)),
    findCapacity: capacityFinder(informers),
  } satisfies VolumeSource & { claim: unknown };
  const binding = { ...context, claims, volumes, assumed, timeoutMs: bindTimeoutSeconds * 1000 };

  return {
    name: NAME,
    events: BINDING_EVENTS,
    filter(pod): Filter | undefined {
      const found = readPodClaims(pod.pod, source);
      if (found === undefined) return undefined;
      if (typeof found !== "string") return new BindingFilter(pod, new NodeVolumeFinder(found, source), binding);
      const rejection = unresolvable(NAME, found);
      return { rejection, check: () => rejection };
    },
    score: (_pod, _nodes, filter) =>
      filter instanceof BindingFilter ? { score: ({ name }) => scoreOf(filter.volumesOn(name), shape) } : undefined,
  };
};

interface FilterContext extends BindingContext {
  readonly assumed: {
    readonly claims: AssumedObjects<PersistentVolumeClaim>;
    readonly volumes: AssumedObjects<PersistentVolume>;
  };
}

class BindingFilter implements Filter {
  readonly #pod: PodInfo;
  readonly #finder: NodeVolumeFinder;
  readonly #context: FilterContext;
  readonly #found = new Map<string, NodeVolumes>();
  #assumed: { readonly volumes: PersistentVolume[]; readonly claims: PersistentVolumeClaim[] } | undefined;
  preBind?: (node: NodeInfo, signal: AbortSignal) => Promise<void>;

  constructor(pod: PodInfo, finder: NodeVolumeFinder, context: FilterContext) {
    this.#pod = pod;
    this.#finder = finder;
    this.#context = context;
  }

  volumesOn(nodeName: string): NodeVolumes | undefined {
    return this.#found.get(nodeName);
  }

  check(node: NodeInfo): Rejection | undefined {
    const found = this.#finder.find(node);
    if (!("bindings" in found)) return rejectionFor(found);
    this.#found.set(node.name, found);
    return undefined;
  }

  /** Later Pods see the volumes as taken and the claims with their node, before both are written. */
  reserve({ name }: NodeInfo): undefined {
    const { bindings = [], provisions = [] } = this.#found.get(name) ?? {};
    if (bindings.length === 0 && provisions.length === 0) return;
    const { claims, assumed } = this.#context;
    const reserved = bindings.map(({ claim, volume }) => {
      return { claim, volume: reservedVolume(volume, claim, claims.resource) ?? volume };
    });
    const selected = provisions.map(({ claim }) => withSelectedNode(claim, name));
    this.#assumed = { volumes: reserved.map(({ volume }) => volume), claims: selected };
    for (const volume of this.#assumed.volumes) assumed.volumes.assume(volume);
    for (const claim of selected) assumed.claims.assume(claim);
    this.preBind = async (node, signal) => {
      const writes = { volumes: reserved, claims: selected };
      await bindVolumes(this.#context, this.#pod.pod, node, writes, signal);
      this.unreserve();
    };
  }

  unreserve(): void {
    const { assumed } = this.#context;
    for (const volume of this.#assumed?.volumes ?? []) assumed.volumes.restore(volume);
    for (const claim of this.#assumed?.claims ?? []) assumed.claims.restore(claim);
  }
}

const rejections = new Map<string, Rejection>();

/** One of the few combinations of reasons. */
function rejectionFor(reasons: readonly string[]): Rejection {
  const key = reasons.join("\n");
  const rejection = rejections.get(key) ?? { plugin: NAME, reasons, isUnresolvable: true };
  rejections.set(key, rejection);
  return rejection;
}

function withSelectedNode(claim: PersistentVolumeClaim, nodeName: string): PersistentVolumeClaim {
  const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: nodeName };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

/** The mean over the classes, of volumes that exist, or else of pools from which volumes are provisioned. */
function scoreOf(
  { bindings, provisions }: NodeVolumes = { bindings: [], provisions: [] },
  shape: readonly ShapePoint[],
) {
  const used = new Map<string, { requested: bigint; capacity: bigint }>();
  const of = (name: string) => {
    const usage = used.get(name) ?? { requested: 0n, capacity: 0n };
    used.set(name, usage);
    return usage;
  };
  for (const { claim, volume } of bindings) {
    const usage = of(volume.spec.storageClassName ?? "");
    usage.requested += roundUp(requestOf(claim));
    usage.capacity += roundUp(capacityOf(volume));
  }
  for (const { claim, capacity } of bindings.length > 0 ? [] : provisions) {
    if (capacity === undefined) continue;
    const usage = of(claim.spec.storageClassName ?? "");
    usage.requested += roundUp(requestOf(claim));
    usage.capacity = bytesOf(capacity.capacity) ?? 0n;
  }
  if (used.size === 0) return 0;
  const points = shape.map(({ utilization, score }) => ({ utilization, score: score * (MAX_SCORE / 10) }));
  let sum = 0;
  for (const { requested, capacity } of used.values()) {
    const isFull = capacity === 0n || requested > capacity;
    sum += interpolate(points, isFull ? 100 : Number((requested * 100n) / capacity));
  }
  return Math.round(sum / used.size);
}
