import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { type Informer, keyOf } from "../../controllers/shared/informer.ts";
import { SELECTED_NODE } from "../../controllers/shared/volume-facts.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PluginContext } from "../plugin.ts";
import { isUsableOn } from "./matching-volumes.ts";
import { isFullyBound } from "./pod-volume-claims.ts";
import { notFound } from "./volume-messages.ts";

const POLL_MS = 1000;

/** What `bindVolumes` works with. */
export interface BindingContext extends PluginContext {
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly timeoutMs: number;
}

/** What is written for a Pod. */
export interface VolumeWrites {
  /** Volumes with a reference to their claim. */
  readonly volumes: readonly { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }[];
  /** Claims with a selected node. */
  readonly claims: readonly PersistentVolumeClaim[];
}

/** Writes volumes and claims, and waits until all claims are bound. Upstream: BindPodVolumes */
export async function bindVolumes(
  context: BindingContext,
  pod: Pod,
  node: NodeInfo,
  writes: VolumeWrites,
  signal: AbortSignal,
): Promise<void> {
  const { client, resources, claims, volumes, timeoutMs } = context;
  for (const { volume } of writes.volumes) {
    const { metadata } = await client.update(volumes.resource, structuredClone(volume));
    await volumes.sees(metadata.resourceVersion);
  }
  for (const claim of writes.claims) {
    const { metadata } = await client.update(claims.resource, structuredClone(claim));
    await claims.sees(metadata.resourceVersion);
  }
  const startMs = resources.clock.monotonic();
  for (;;) {
    const waiting = findUnbound(context, pod, node, writes);
    if (waiting === undefined) return;
    if (signal.aborted) throw new Error("binding volumes: context canceled");
    if (resources.clock.monotonic() - startMs >= timeoutMs) {
      throw new Error("binding volumes: context deadline exceeded");
    }
    await changeOf(context, waiting, signal);
  }
}

/** Resolves after a change of the claim. Pods and volumes are looked at from time to time. */
async function changeOf(
  { claims, resources }: BindingContext,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const ends = AbortSignal.any([end.signal, signal]);
  await Promise.race([claims.changes(claim), resources.clock.sleep(POLL_MS, ends)]);
  end.abort();
}

/** A claim that is not bound yet. Throws if the Pod must be scheduled again. Upstream: checkBindings */
function findUnbound(
  context: BindingContext,
  pod: Pod,
  { name }: NodeInfo,
  writes: VolumeWrites,
): PersistentVolumeClaim | undefined {
  const { informers, cluster } = context;
  const node = cluster.node(name);
  if (node === undefined) throw failure(`failed to get node ${quote(name)}: ${notFound("node", name)}`);
  if (informers.of("", "pods").informer.get(keyOf(pod)) === undefined) {
    throw failure(`pod does not exist any more: ${notFound("pod", pod.metadata.name ?? "")}`);
  }
  for (const { volume, claim } of writes.volumes) {
    const waiting = unboundTo(context, volume, claim, node);
    if (waiting) return waiting;
  }
  for (const claim of writes.claims) {
    const waiting = unprovisioned(context, claim, node);
    if (waiting) return waiting;
  }
  return undefined;
}

function unboundTo(
  { volumes, claims }: BindingContext,
  { metadata: { name = "" } }: PersistentVolume,
  claim: PersistentVolumeClaim,
  node: NodeInfo,
): PersistentVolumeClaim | undefined {
  const volume = volumes.get(name);
  if (volume === undefined) throw failure(`failed to check binding: ${notFound("persistentvolumes", name)}`);
  const current = claims.get(keyOf(claim));
  if (current === undefined) throw failure(`failed to check binding: ${missing(claim)}`);
  checkAffinity(volume, node);
  if ((volume.spec.claimRef?.uid ?? "") === "") throw failure(`ClaimRef got reset for pv ${quote(name)}`);
  return isFullyBound(current) ? undefined : current;
}

function unprovisioned(
  { volumes, claims }: BindingContext,
  claim: PersistentVolumeClaim,
  node: NodeInfo,
): PersistentVolumeClaim | undefined {
  const current = claims.get(keyOf(claim));
  if (current === undefined) throw failure(`failed to check provisioning pvc: ${missing(claim)}`);
  const { annotations, name = "" } = current.metadata;
  if (annotations === undefined) throw failure(`selectedNode annotation reset for PVC ${quote(name)}`);
  if (annotations[SELECTED_NODE] !== node.name) throw failure(`provisioning failed for PVC ${quote(name)}`);
  const { volumeName = "" } = current.spec;
  const volume = volumes.get(volumeName);
  if (volumeName !== "" && volume === undefined) return current;
  if (volume) checkAffinity(volume, node);
  return isFullyBound(current) ? undefined : current;
}

function checkAffinity(volume: PersistentVolume, node: NodeInfo): void {
  if (isUsableOn(volume, node)) return;
  const name = quote(volume.metadata.name ?? "");
  throw failure(`pv ${name} node affinity doesn't match node ${quote(node.name)}: no matching NodeSelectorTerms`);
}

const quote = (text: string) => JSON.stringify(text);
const failure = (message: string) => new Error(`binding volumes: ${message}`);
const missing = (claim: PersistentVolumeClaim) => notFound("persistentvolumeclaims", keyOf(claim));
