import assert from "node:assert/strict";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import { until } from "../shared/controllers.suite.ts";
import { WorkloadCluster } from "./workloads.suite.ts";

/** The spec of a PersistentVolumeClaim. */
export function claimSpec(storage = "1Gi", more: JsonObject = {}): JsonObject {
  return { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more };
}

/** The spec of a PersistentVolume. */
export function volumeSpec(storage = "1Gi", more: JsonObject = {}): JsonObject {
  const csi = { driver: "example.com", volumeHandle: "1" };
  return { accessModes: ["ReadWriteOnce"], capacity: { storage }, ...("hostPath" in more ? {} : { csi }), ...more };
}

/** A cluster of volumes on a clock that the test drives. */
export class VolumeCluster extends WorkloadCluster {
  readonly clock: ManualClock;

  constructor(clock = new ManualClock(), store = new MemoryStore()) {
    super(store, { clock });
    this.clock = clock;
  }

  /** Creates an object of any kind through all defaults and checks of a request. */
  add(plural: string, name: string, members: JsonObject, metadata: JsonObject = {}): Promise<KubeObject> {
    const resource = this.resource(plural);
    const { kind, scope } = resource.definition;
    const where = scope === "Namespaced" ? { namespace: "default" } : {};
    const object = { kind, apiVersion: resource.apiVersion, metadata: { name, ...where, ...metadata }, ...members };
    return this.client.create(resource, object);
  }

  addClaim(name: string, spec: JsonObject = claimSpec(), metadata: JsonObject = {}): Promise<KubeObject> {
    return this.add("persistentvolumeclaims", name, { spec }, metadata);
  }

  addVolume(name: string, spec: JsonObject = volumeSpec(), metadata: JsonObject = {}): Promise<KubeObject> {
    return this.add("persistentvolumes", name, { spec }, metadata);
  }

  addClass(name: string, provisioner: string, more: JsonObject = {}, metadata: JsonObject = {}): Promise<KubeObject> {
    return this.add("storageclasses", name, { provisioner, ...more }, metadata);
  }

  /** Creates a Pod that uses a claim. */
  addPod(name: string, claimName: string, more: JsonObject = {}): Promise<KubeObject> {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName } }];
    return this.add("pods", name, { spec: { containers: [{ name: "main", image: "nginx" }], volumes, ...more } });
  }

  async claim(name: string): Promise<PersistentVolumeClaim | undefined> {
    return (await this.find("persistentvolumeclaims", name)) as PersistentVolumeClaim | undefined;
  }

  async volume(name: string): Promise<PersistentVolume | undefined> {
    return (await this.find("persistentvolumes", name, "")) as PersistentVolume | undefined;
  }

  /** Merges a change into an object. */
  merge(plural: string, name: string, patch: JsonObject, subresource?: string): Promise<KubeObject> {
    const resource = this.resource(plural);
    const namespace = resource.definition.scope === "Namespaced" ? "default" : "";
    return this.client.patch(resource, { namespace, name }, patch, { ...(subresource && { subresource }) });
  }

  /** Deletes an object as a client would. */
  remove(plural: string, name: string): Promise<void> {
    const resource = this.resource(plural);
    const namespace = resource.definition.scope === "Namespaced" ? "default" : "";
    return this.client.delete(resource, { namespace, name });
  }

  /** Resolves when the claim has this phase. Returns it. */
  async hasClaim(name: string, phase: string): Promise<PersistentVolumeClaim> {
    await until(async () => (await this.claim(name))?.status?.phase === phase);
    const claim = await this.claim(name);
    assert.ok(claim);
    return claim;
  }

  /** Resolves when the volume has this phase. Returns it. */
  async hasVolume(name: string, phase: string): Promise<PersistentVolume> {
    await until(async () => (await this.volume(name))?.status?.phase === phase);
    const volume = await this.volume(name);
    assert.ok(volume);
    return volume;
  }

  /** Resolves when the object is gone. */
  async isGone(plural: string, name: string): Promise<void> {
    const { scope } = this.resource(plural).definition;
    await until(async () => (await this.find(plural, name, scope === "Namespaced" ? "default" : "")) === undefined);
  }

  /** The type, reason and message of Events about an object, in order. */
  async news(name: string): Promise<string[]> {
    const events = await this.list<KubeObject & { involvedObject: { name: string } }>("events");
    const about = events.filter(({ involvedObject }) => involvedObject.name === name);
    return about.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** Resolves when an Event was recorded. */
  async hasNews(name: string, line: string): Promise<void> {
    await until(async () => (await this.news(name)).includes(line));
  }
}
