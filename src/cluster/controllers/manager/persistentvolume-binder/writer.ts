import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../../base/api/object.ts";
import { canonicalQuantity, QuantityError } from "../../../../base/api/quantity.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
} from "../../../../kinds/types/persistent-volume.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import { type Informer, keyOf } from "../../shared/informer.ts";
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, hasAnnotation, reservedVolume } from "../../shared/volume-facts.ts";

/** Set on a volume while a file system is being resized: the size of the claim until then. */
const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

/** What `Writer` works with. */
export interface WriterOptions {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly volumes: Informer<PersistentVolume>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

/** Writes volumes and claims, only if something changes. All methods return the newest state. */
export class Writer {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  updateVolume(volume: PersistentVolume): Promise<PersistentVolume> {
    return this.#update(this.#options.volumes, volume);
  }

  updateClaim(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
    return this.#update(this.#options.claims, claim);
  }

  async setPhase(volume: PersistentVolume, phase: string, message?: string): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume;
    const { message: _, ...status } = volume.status ?? {};
    const next = { ...status, phase, ...(message !== undefined && { message }) };
    return this.#update(this.#options.volumes, { ...volume, status: next }, "status");
  }

  /** Sets the phase Failed and records why, unless the volume has failed before. */
  async fail(volume: PersistentVolume, reason: string, message: string): Promise<void> {
    if (volume.status?.phase === "Failed") return;
    const failed = await this.setPhase(volume, "Failed", message);
    this.warn(failed, reason, message);
  }

  /** Sets the phase of a claim and what it gets from its volume, if it has one. */
  async setClaim(
    claim: PersistentVolumeClaim,
    phase: string,
    volume?: PersistentVolume,
  ): Promise<PersistentVolumeClaim> {
    const status = claimStatus(claim, phase, volume);
    if (isDeepStrictEqual(status, claim.status ?? {})) return claim;
    return this.#update(this.#options.claims, { ...claim, status }, "status");
  }

  /** Sets the phase Lost and records why, unless the claim was lost before. */
  async lose(claim: PersistentVolumeClaim, reason: string, message: string): Promise<void> {
    if (claim.status?.phase === "Lost") return;
    this.warn(await this.setClaim(claim, "Lost"), reason, message);
  }

  /** Binds both sides: the volume first, so that no other claim gets it. */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const reserved = reservedVolume(volume, claim, this.#options.claims.resource);
    const bound = await this.setPhase(reserved ? await this.updateVolume(reserved) : volume, "Bound");
    const completed = completedClaim(claim, bound);
    await this.setClaim(completed ? await this.updateClaim(completed) : claim, "Bound", bound);
  }

  /** Makes a volume available again. One that the user reserved for a claim stays reserved. */
  async unbind(volume: PersistentVolume): Promise<void> {
    const { claimRef, ...spec } = volume.spec;
    const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = volume.metadata.annotations ?? {};
    const { uid: _, ...reference } = claimRef ?? {};
    const next = byController === undefined ? { ...spec, claimRef: reference } : spec;
    const metadata = byController === undefined ? volume.metadata : { ...volume.metadata, annotations };
    await this.setPhase(await this.updateVolume({ ...volume, metadata, spec: next }), "Available");
  }

  note(object: KubeObject, reason: string, message: string): void {
    this.#options.recorder.record(this.#resourceOf(object), object, "Normal", reason, message);
  }

  warn(object: KubeObject, reason: string, message: string): void {
    this.#options.recorder.record(this.#resourceOf(object), object, "Warning", reason, message);
  }

  #resourceOf({ kind }: KubeObject) {
    const { volumes, claims } = this.#options;
    return kind === volumes.resource.definition.kind ? volumes.resource : claims.resource;
  }

  async #update<T extends KubeObject>(informer: Informer<T>, object: T, subresource?: string): Promise<T> {
    const options = subresource === undefined ? {} : { subresource };
    const written = await this.#options.client.update(informer.resource, object, options);
    await informer.sees(written.metadata.resourceVersion);
    const known = informer.get(keyOf(written));
    return known && known.metadata.resourceVersion === written.metadata.resourceVersion ? known : (written as T);
  }
}

/** The claim with the name of its volume. Undefined if it has it. */
function completedClaim(claim: PersistentVolumeClaim, volume: PersistentVolume): PersistentVolumeClaim | undefined {
  const { name = "" } = volume.metadata;
  const isNamed = claim.spec.volumeName === name;
  if (isNamed && hasAnnotation(claim, BIND_COMPLETED)) return undefined;
  const annotations = { ...claim.metadata.annotations };
  if (!isNamed) annotations[BOUND_BY_CONTROLLER] ??= "yes";
  annotations[BIND_COMPLETED] ??= "yes";
  return { ...claim, metadata: { ...claim.metadata, annotations }, spec: { ...claim.spec, volumeName: name } };
}

/** Upstream: updateClaimStatus. The capacity of a bound claim may differ from its volume while it is resized. */
function claimStatus(
  { status: before = {} }: PersistentVolumeClaim,
  phase: string,
  volume: PersistentVolume | undefined,
): PersistentVolumeClaimStatus {
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: ___, ...rest } = before;
  if (volume === undefined) return { ...rest, phase };
  const { accessModes = [], volumeAttributesClassName } = volume.spec;
  const next: PersistentVolumeClaimStatus = { ...before, phase, accessModes };
  if (before.phase !== phase) next.capacity = claimCapacity(volume);
  if (before.phase === "Pending" && phase === "Bound") {
    delete next.currentVolumeAttributesClassName;
    if (volumeAttributesClassName !== undefined) next.currentVolumeAttributesClassName = volumeAttributesClassName;
  }
  return next;
}

function claimCapacity({ metadata, spec }: PersistentVolume): Record<string, string> {
  const storage = metadata.annotations?.[PRE_RESIZE_CAPACITY];
  try {
    if (storage !== undefined) return { storage: canonicalQuantity(storage) };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
  }
  return spec.capacity ?? {};
}
