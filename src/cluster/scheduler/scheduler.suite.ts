import assert from "node:assert/strict";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import { TestCluster } from "../controllers/shared/controllers.suite.ts";
import { conditionOf } from "../controllers/shared/pods.ts";
import type { NodeFacts } from "./plugins/plugins.suite.ts";
import { Scheduler } from "./scheduler.ts";

/** What users see of an Event. */
export interface SeenEvent extends KubeObject {
  readonly reason: string;
  readonly message: string;
  readonly action: string;
  readonly reportingComponent: string;
  readonly series?: { readonly count: number };
  readonly involvedObject: { readonly name: string };
}

/** A cluster with a running scheduler, on a clock that the test moves. */
export class ScheduledCluster extends TestCluster {
  readonly clock: ManualClock;

  constructor() {
    const clock = new ManualClock();
    super(undefined, { clock });
    this.clock = clock;
    this.start(new Scheduler(this));
  }

  async addNode(name: string, { labels = {}, spec = {}, status = {} }: NodeFacts = {}): Promise<void> {
    const allocatable = { cpu: "4", memory: "8Gi", pods: "110" };
    const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
    const node = { kind: "Node", apiVersion: "v1", metadata, spec, status: { allocatable, ...status } };
    await this.client.create(this.resource("nodes"), node);
  }

  async addPod(name: string, spec: JsonObject = {}): Promise<void> {
    const pod = { containers: [{ name: "main", image: "nginx" }], ...spec };
    const metadata = { name, namespace: "default" };
    await this.client.create(this.resource("pods"), { kind: "Pod", apiVersion: "v1", metadata, spec: pod });
  }

  /** Lets everything happen that needs no time, and then so many seconds pass. */
  async wait(seconds = 0): Promise<void> {
    await this.clock.advance(seconds * 1000);
  }

  async pod(name: string): Promise<Pod> {
    const pod = (await this.find("pods", name)) as Pod | undefined;
    assert.ok(pod, name);
    return pod;
  }

  /** The node of a Pod, or why it has none. */
  async outcome(name: string): Promise<string | undefined> {
    const pod = await this.pod(name);
    return pod.spec?.nodeName ?? conditionOf(pod, "PodScheduled")?.message;
  }

  async events(name: string): Promise<SeenEvent[]> {
    const all = await this.list<SeenEvent>("events");
    return all.filter(({ involvedObject }) => involvedObject.name === name);
  }

  async end(): Promise<void> {
    await this.stop();
    assert.deepEqual(this.problems, []);
  }
}
