import { hostname } from "node:os";
import type { KubeObject } from "../../base/api/object.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { printMicroTime } from "../../resources/write/metadata.ts";
import { type ControllerContext, isNamespaceTerminating, isStatus } from "../controllers/shared/controller.ts";
import { eventName } from "../controllers/shared/event-recorder.ts";

/** An Event about a Pod. */
export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** A written Event that the same change of the same object repeats. */
interface Written {
  readonly event: KubeObject;
  count: number;
  readonly atMs: number;
}

/** Upstream: finishTime and maxQueuedEvents of tools/events */
const FINISH_MS = 360_000;
const MAX_PENDING = 1000;
const MAX_NOTE = 1024;

/**
 * Writes Events of events.k8s.io for one profile. A repeated Event becomes a series.
 *
 * Upstream: eventBroadcasterImpl of tools/events
 */
export class SchedulerEvents {
  readonly #context: ControllerContext;
  readonly #events: ServedResource;
  readonly #controller: string;
  readonly #written = new Map<string, Written>();
  #pending = 0;

  constructor(context: ControllerContext, schedulerName: string) {
    this.#context = context;
    this.#controller = schedulerName;
    const events = context.resources.catalog.find("events.k8s.io", "v1", "events");
    if (events === undefined) throw new Error("events.k8s.io/v1 is not served");
    this.#events = events;
  }

  /** Writes an Event later. Failures are reported, not thrown. */
  record(pod: Pod, event: PodEvent): void {
    if (this.#pending >= MAX_PENDING) return;
    this.#pending += 1;
    this.#write(pod, event)
      .catch((error: unknown) => {
        // The Namespace may be gone by now.
        if (!isStatus(error, 404, 409) && !isNamespaceTerminating(error)) this.#context.report(this.#controller, error);
      })
      .finally(() => {
        this.#pending -= 1;
      });
  }

  async #write(pod: Pod, { type, reason, action, note }: PodEvent): Promise<void> {
    const { client, resources } = this.#context;
    const nowMs = resources.clock.now();
    const regarding = referenceTo(pod);
    const key = JSON.stringify([type, action, reason, regarding]);
    const eventTime = printMicroTime(nowMs);
    const known = this.#known(key, nowMs);
    if (known) {
      known.count += 1;
      if (known.count > 2) return;
      const { namespace = "", name = "" } = known.event.metadata;
      const series = { count: known.count, lastObservedTime: eventTime };
      await client.patch(this.#events, { namespace, name }, { series }, { isStrategic: true });
      return;
    }
    const event: KubeObject = {
      kind: "Event",
      apiVersion: this.#events.apiVersion,
      metadata: { name: eventName(resources, regarding.name, nowMs), namespace: regarding.namespace },
      ...{ eventTime, reportingController: this.#controller, action, reason, regarding },
      reportingInstance: `${this.#controller}-${hostname()}`,
      note: shortened(note),
      type,
    };
    this.#written.set(key, { event, count: 1, atMs: nowMs });
    await client.create(this.#events, structuredClone(event));
  }

  #known(key: string, nowMs: number): Written | undefined {
    for (const [one, { atMs }] of this.#written) {
      if (nowMs - atMs < FINISH_MS) break;
      this.#written.delete(one);
    }
    return this.#written.get(key);
  }
}

function referenceTo({ metadata: { namespace = "", name = "", uid = "", resourceVersion = "" } }: Pod) {
  return { kind: "Pod", namespace, name, uid, apiVersion: "v1", resourceVersion };
}

/** Upstream: truncateMessage */
function shortened(note: string): string {
  return note.length <= MAX_NOTE ? note : `${note.slice(0, MAX_NOTE - 4)} ...`;
}
