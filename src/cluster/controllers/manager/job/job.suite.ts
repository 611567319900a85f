import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { MemoryStore } from "../../../../storage/memory.ts";
import { until } from "../../shared/controllers.suite.ts";
import { WorkloadCluster } from "../workloads.suite.ts";

/** The spec of a Job. */
export function jobSpec(more: JsonObject = {}, pod: JsonObject = {}): JsonObject {
  const spec = { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }], ...pod };
  return { template: { spec }, ...more };
}

/** How a Pod ends. */
export interface End {
  readonly phase?: "Succeeded" | "Failed";
  readonly exitCode?: number;
  readonly conditions?: JsonObject[];
}

/** A cluster on a clock that the test drives. */
export class JobCluster extends WorkloadCluster {
  readonly clock: ManualClock;

  constructor(clock = new ManualClock(), store = new MemoryStore()) {
    super(store, { clock });
    this.clock = clock;
  }

  get now(): string {
    return printTime(this.clock.now());
  }

  async job(name = "pi"): Promise<Job | undefined> {
    return (await this.find("jobs", name)) as Job | undefined;
  }

  async status(name = "pi"): Promise<NonNullable<Job["status"]>> {
    return (await this.job(name))?.status ?? {};
  }

  /** The condition types that are True, in order. */
  async conditions(name = "pi"): Promise<string[]> {
    const { conditions = [] } = await this.status(name);
    return conditions.filter(({ status }) => status === "True").map(({ type }) => type);
  }

  /** Resolves when the Job has this condition. Returns its status. */
  async has(condition: string, name = "pi"): Promise<NonNullable<Job["status"]>> {
    await this.pass(async () => (await this.conditions(name)).includes(condition));
    return this.status(name);
  }

  /** The type, reason and message of Events about an object, in order. */
  async news(name = "pi"): Promise<string[]> {
    const events = await this.list<KubeObject & { involvedObject: { name: string } }>("events");
    const about = events.filter(({ involvedObject }) => involvedObject.name === name);
    return about.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** Resolves when an Event was recorded. */
  async hasNews(line: string, name = "pi"): Promise<void> {
    await until(async () => (await this.news(name)).includes(line));
  }

  /** Lets time pass until the condition holds. */
  async pass(condition: () => Promise<boolean>): Promise<void> {
    await until(async () => {
      if (await condition()) return true;
      await this.clock.advance(500);
      return condition();
    });
  }

  /** Lets this time pass, in steps in which the controllers can work. */
  async wait(seconds: number): Promise<void> {
    for (let step = 0; step < seconds; step += 1) await this.clock.advance(1000);
  }

  /** The Pods that have not ended and are not being deleted. */
  async activePods(): Promise<Pod[]> {
    const hasEnded = ({ status }: Pod) => status?.phase === "Succeeded" || status?.phase === "Failed";
    return (await this.pods()).filter((pod) => !hasEnded(pod) && !pod.metadata.deletionTimestamp);
  }

  /** Resolves when there are so many active Pods. */
  async hasActive(count: number): Promise<Pod[]> {
    await this.pass(async () => (await this.activePods()).length === count);
    return this.activePods();
  }

  /** Ends a Pod as a kubelet would report it. */
  async endPod({ metadata }: Pod, { phase = "Failed", exitCode = 1, conditions = [] }: End = {}): Promise<void> {
    const finishedAt = this.now;
    const code = phase === "Succeeded" ? 0 : exitCode;
    const state = { terminated: { exitCode: code, startedAt: finishedAt, finishedAt } };
    const containerStatuses = [
      { name: "main", image: "busybox", imageID: "busybox", ready: false, restartCount: 0, state },
    ];
    const key = { namespace: "default", name: metadata.name ?? "" };
    const patch = { status: { phase, conditions, containerStatuses } };
    await this.client.patch(this.resource("pods"), key, patch, { isStrategic: true, subresource: "status" });
  }

  async succeed(pod: Pod): Promise<void> {
    await this.endPod(pod, { phase: "Succeeded" });
  }
}
