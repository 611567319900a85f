import assert from "node:assert/strict";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { TestCluster, until } from "../shared/controllers.suite.ts";
import { isReady } from "../shared/pods.ts";

const LABELS = { app: "web" };

/** The spec of a workload whose Pods have the label app=web. */
export function workload(image: string, more: JsonObject = {}): JsonObject {
  const spec = { containers: [{ name: "main", image }] };
  return { selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec }, ...more };
}

/** A cluster whose Pods become ready by a call. */
export class WorkloadCluster extends TestCluster {
  /** Creates an object through all defaults and checks of a request. */
  post(plural: string, name: string, spec: JsonObject, metadata: JsonObject = {}): Promise<KubeObject> {
    const { definition, apiVersion } = this.resource(plural);
    const object = { kind: definition.kind, apiVersion, metadata: { name, namespace: "default", ...metadata }, spec };
    return this.client.create(this.resource(plural), object);
  }

  patch(plural: string, name: string, patch: JsonObject): Promise<KubeObject> {
    return this.client.patch(this.resource(plural), { namespace: "default", name }, patch, { isStrategic: true });
  }

  /** Changes a stored object past all checks. */
  async rewrite(plural: string, name: string, change: (object: KubeObject) => void): Promise<void> {
    const key = this.resources.keys.key(this.resource(plural).definition, { namespace: "default", name });
    const entry = await this.store.get(key);
    const object = await this.find(plural, name);
    assert.ok(entry && object);
    change(object);
    await this.store.put(key, Buffer.from(JSON.stringify(object)), entry.modRevision);
  }

  pods(): Promise<Pod[]> {
    return this.list<Pod>("pods");
  }

  /** Lets a Pod run, as a kubelet would report it. */
  async setPod(name: string, phase: string, isReady = phase === "Running"): Promise<void> {
    const lastTransitionTime = new Date(this.resources.clock.now()).toISOString().replace(/\.\d+/, "");
    const status = { phase, conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime }] };
    const key = { namespace: "default", name };
    await this.client.patch(this.resource("pods"), key, { status }, { isStrategic: true, subresource: "status" });
  }

  async makeReady(): Promise<void> {
    for (const pod of await this.pods()) {
      if (!isReady(pod) && pod.metadata.deletionTimestamp === undefined)
        await this.setPod(pod.metadata.name ?? "", "Running");
    }
  }

  /** Makes Pods ready until the condition holds. */
  async untilReady(condition: () => Promise<boolean>): Promise<void> {
    await until(async () => {
      await this.makeReady();
      return condition();
    });
  }

  /** The messages of Events about an object. */
  async events(name: string): Promise<string[]> {
    const events = await this.list<KubeObject & { involvedObject: { name: string }; message: string }>("events");
    return events.filter(({ involvedObject }) => involvedObject.name === name).map(({ message }) => message);
  }

  async end(): Promise<void> {
    await this.stop();
    assert.deepEqual(this.problems, []);
  }
}
