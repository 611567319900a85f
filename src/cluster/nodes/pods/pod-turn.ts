import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { PodPlacement } from "../behaviour/container-env.ts";
import { containerStatuses, type PodContainer, podContainers } from "./containers.ts";
import type { PodProblems } from "./pod-problems.ts";

/** Records an Event about a container, or about the Pod itself. */
export type RecordPodEvent = (
  type: "Normal" | "Warning",
  reason: string,
  message: string,
  container?: PodContainer,
) => void;

/** The work on a Pod at one moment: its containers' statuses so far, and when it must be looked at again. */
export class PodTurn {
  readonly pod: Pod;
  readonly place: PodPlacement;
  readonly nowMs: number;
  /** The moment as statuses print it. */
  readonly now: string;
  readonly containers: readonly PodContainer[];
  readonly statuses: Map<string, ContainerStatus>;
  readonly record: RecordPodEvent;
  readonly problems: PodProblems;
  #dueMs: number | undefined;

  constructor(pod: Pod, place: PodPlacement, problems: PodProblems, nowMs: number, record: RecordPodEvent) {
    this.pod = pod;
    this.place = place;
    this.nowMs = nowMs;
    this.now = printTime(nowMs);
    this.containers = podContainers(pod);
    this.statuses = containerStatuses(pod);
    this.record = record;
    this.problems = problems;
  }

  /** When the Pod must be looked at again. Undefined: when something changes. */
  get dueMs(): number | undefined {
    return this.#dueMs;
  }

  of(...roles: readonly PodContainer["role"][]): PodContainer[] {
    return this.containers.filter(({ role }) => roles.includes(role));
  }

  status({ name }: PodContainer): ContainerStatus | undefined {
    return this.statuses.get(name);
  }

  set({ name }: PodContainer, status: ContainerStatus): void {
    this.statuses.set(name, status);
  }

  wakeAt(ms: number | undefined): void {
    if (ms !== undefined && (this.#dueMs === undefined || ms < this.#dueMs)) this.#dueMs = ms;
  }
}
