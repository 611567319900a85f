import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { printMicroTime } from "../../../resources/write/metadata.ts";
import type { Entry, WriteResult } from "../../../storage/store.ts";
import { type ControllerContext, isStatus } from "./controller.ts";
import { EventRecorder } from "./event-recorder.ts";
import type { LeaderRecord } from "./leader.ts";

const NAMESPACE = "kube-system";
const DURATION_SECONDS = 15;
const RENEW_MS = 2000;
/** Duration of a released Lease. */
const RELEASED_SECONDS = 1;

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly leaseTransitions?: number;
}

/**
 * A Lease in kube-system, with which programs that use client-go agree on a leader. Whoever leads records an Event.
 *
 * Upstream: LeaseLock of tools/leaderelection, with the default durations of kube-controller-manager
 */
export function leaseRecord(context: ControllerContext, name: string, identity: string): LeaderRecord {
  const { store, keys, catalog } = context.resources;
  const resource = storedResource(catalog, "coordination.k8s.io", "leases");
  const key = keys.key(resource.definition, { namespace: NAMESPACE, name });
  const lease = new ElectionLease(context, resource, { key, name, identity });
  return {
    ...{ key, store, identity, renewMs: RENEW_MS, ttlMs: DURATION_SECONDS * 1000 },
    read: (entry) => {
      const { holderIdentity, leaseDurationSeconds = DURATION_SECONDS } = lease.specOf(entry);
      return { holder: holderIdentity === "" ? undefined : holderIdentity, ttlMs: leaseDurationSeconds * 1000 };
    },
    take: (expected) => lease.take(expected),
    release: (revision) => lease.release(revision),
  };
}

class ElectionLease {
  readonly #context: ControllerContext;
  readonly #resource: ServedResource;
  readonly #recorder: EventRecorder;
  readonly #key: string;
  readonly #name: string;
  readonly #identity: string;

  constructor(
    context: ControllerContext,
    resource: ServedResource,
    { key, name, identity }: { key: string; name: string; identity: string },
  ) {
    this.#context = context;
    this.#resource = resource;
    this.#recorder = new EventRecorder(context, name);
    this.#key = key;
    this.#name = name;
    this.#identity = identity;
  }

  async take(expected: number): Promise<WriteResult> {
    const current = await this.#read();
    if ((current?.modRevision ?? 0) !== expected) return { ok: false, current };
    const { holderIdentity, acquireTime, leaseTransitions = 0 } = current ? this.specOf(current) : {};
    const renewTime = this.#now();
    const isRenewal = holderIdentity === this.#identity;
    const written = await this.#write(current, {
      holderIdentity: this.#identity,
      leaseDurationSeconds: DURATION_SECONDS,
      acquireTime: isRenewal ? acquireTime : renewTime,
      renewTime,
      leaseTransitions: isRenewal || current === undefined ? leaseTransitions : leaseTransitions + 1,
    });
    if (written === undefined) return { ok: false, current: await this.#read() };
    if (!isRenewal) this.#record(written, "became leader");
    return { ok: true, revision: Number(written.metadata.resourceVersion) };
  }

  /** The Lease stays, with an empty holder. */
  async release(revision: number): Promise<void> {
    const current = await this.#read();
    if (current?.modRevision !== revision || this.specOf(current).holderIdentity !== this.#identity) return;
    const { leaseTransitions = 0 } = this.specOf(current);
    const now = this.#now();
    const released = { holderIdentity: "", leaseDurationSeconds: RELEASED_SECONDS, acquireTime: now, renewTime: now };
    const written = await this.#write(current, { ...released, leaseTransitions });
    if (written) this.#record(written, "stopped leading");
    // The store may be closed after the release.
    await this.#recorder.written;
  }

  specOf(entry: Entry): LeaseSpec {
    const object = readObject(this.#context.resources.codec, entry);
    return isObject(object?.spec) ? (object.spec as LeaseSpec) : {};
  }

  async #read(): Promise<Entry | undefined> {
    return this.#context.resources.store.get(this.#key);
  }

  /** Undefined if another candidate has written. */
  async #write(current: Entry | undefined, spec: KubeObject[string]): Promise<KubeObject | undefined> {
    const { client, resources } = this.#context;
    const before = current && readObject(resources.codec, current);
    const { apiVersion, definition } = this.#resource;
    const metadata = before?.metadata ?? { namespace: NAMESPACE, name: this.#name };
    const lease: KubeObject = { kind: definition.kind, apiVersion, metadata, spec };
    try {
      return before ? await client.update(this.#resource, lease) : await client.create(this.#resource, lease);
    } catch (error) {
      if (isStatus(error, 404, 409)) return undefined;
      throw error;
    }
  }

  #record(lease: KubeObject, what: string): void {
    this.#recorder.record(this.#resource, lease, "Normal", "LeaderElection", `${this.#identity} ${what}`);
  }

  #now(): string {
    return printMicroTime(this.#context.resources.clock.now());
  }
}
