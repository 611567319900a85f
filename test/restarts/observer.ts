import { setTimeout as sleep } from "node:timers/promises";
import type { Api, Item, WatchEvent } from "./api.ts";
import { DB, PODS, WEB } from "./workloads.ts";

const INDEX = "batch.kubernetes.io/job-completion-index";
const JOB = "batch.kubernetes.io/job-name";

const isReady = ({ metadata, status }: Item) =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false);

/** Follows all changes of Pods across restarts, and checks the promises of the controllers. */
export class Observer {
  /** Broken promises. */
  readonly problems: string[] = [];
  /** How many events were checked, and how often the watch could not be resumed, so that events are missing. */
  readonly counts: { events: number; lost: number } = { events: 0, lost: 0 };
  readonly #pods = new Map<string, Item>();
  readonly #succeeded = new Set<string>();
  readonly #complete = new Set<string>();
  #resourceVersion = "";

  /** Follows Pods until the signal aborts. */
  async run(api: Api, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === "") await this.#list(api);
        for await (const event of api.watch(PODS, this.#resourceVersion)) this.#take(event);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (!signal.aborted) await sleep(20);
    }
  }

  async #list(api: Api): Promise<void> {
    const { items, metadata } = await api.list(PODS);
    this.#resourceVersion = metadata.resourceVersion;
    this.#pods.clear();
    for (const item of items) this.#note(item);
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "ERROR") {
      this.counts.lost += 1;
      this.#resourceVersion = "";
      return;
    }
    this.#resourceVersion = object.metadata.resourceVersion;
    if (type === "BOOKMARK") return;
    this.counts.events += 1;
    if (type === "ADDED") this.#checkIndex(object);
    if (type === "DELETED") this.#pods.delete(object.metadata.uid);
    else this.#note(object);
    this.#checkReplicas("web", WEB.replicas, WEB.maxSurge, WEB.maxUnavailable);
    this.#checkReplicas("db", DB.replicas, 0, DB.maxUnavailable);
  }

  #note(pod: Item): void {
    this.#pods.set(pod.metadata.uid, pod);
    const index = indexOf(pod);
    if (index !== undefined && pod.status?.phase === "Succeeded") this.#succeeded.add(index);
  }

  #checkIndex(pod: Item): void {
    const index = indexOf(pod);
    if (index !== undefined && this.#succeeded.has(index))
      this.#report(`${index} was started again after it succeeded`);
  }

  #checkReplicas(app: string, replicas: number, surge: number, unavailable: number): void {
    const pods = [...this.#pods.values()].filter(({ metadata }) => metadata.labels?.app === app);
    const present = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
    const ready = pods.filter(isReady).length;
    if (ready >= replicas) this.#complete.add(app);
    if (present > replicas + surge) this.#report(`${app} has ${present} Pods, more than ${replicas} + ${surge}`);
    // The limit does not apply before all Pods were ready for the first time.
    if (this.#complete.has(app) && ready < replicas - unavailable) {
      this.#report(`${app} has ${ready} ready Pods, fewer than ${replicas} - ${unavailable}`);
    }
  }

  #report(problem: string): void {
    this.problems.push(`${problem}, at resourceVersion ${this.#resourceVersion}`);
  }
}

/** The Job and the completion index of a Pod. */
function indexOf({ metadata: { annotations, labels } }: Item): string | undefined {
  const index = annotations?.[INDEX];
  return index === undefined ? undefined : `index ${index} of ${labels?.[JOB]}`;
}
