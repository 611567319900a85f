import type { KubeObject } from "../../../../base/api/object.ts";
import type { Service } from "../../../../kinds/types/service.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";

/** Annotation with the time of the change that led to the current endpoints. */
export const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

interface Known {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/** The times at which Services and their Pods changed. Upstream: TriggerTimeTracker */
export class TriggerTimes {
  readonly #known = new Map<string, Known>();

  /** The earliest change since the last call for this key. Undefined if there was none. */
  next(
    key: string,
    { metadata: { creationTimestamp: created = "" } }: Service,
    pods: readonly Pod[],
  ): string | undefined {
    const before = this.#known.get(key);
    const times = new Map<string, string>();
    let earliest: string | undefined;
    const consider = (time: string, known = "") => {
      if (time > known && (earliest === undefined || time < earliest)) earliest = time;
    };
    for (const { metadata, status } of pods) {
      const time = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime ?? "";
      if (time === "") continue;
      times.set(metadata.name ?? "", time);
      consider(time, before?.pods.get(metadata.name ?? ""));
    }
    consider(created, before?.service);
    this.#known.set(key, { service: created, pods: times });
    return before === undefined ? created : earliest;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

/** A copy of an object with this trigger time, or without one. */
export function stampTriggerTime<T extends KubeObject>(object: T, time: string | undefined): T {
  const { annotations = {}, ...metadata } = object.metadata;
  const { [TRIGGER_TIME]: _, ...others } = annotations;
  const next = time === undefined ? others : { ...others, [TRIGGER_TIME]: time };
  // Protobuf has no empty maps.
  return { ...object, metadata: { ...metadata, ...(Object.keys(next).length > 0 && { annotations: next }) } };
}
