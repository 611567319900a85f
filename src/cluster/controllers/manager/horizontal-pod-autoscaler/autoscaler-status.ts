import type { WorkloadCondition } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import type { Autoscaler, AutoscalerStatus } from "./autoscaler-types.ts";

/** The next status of an autoscaler, while it is being computed. */
export class StatusDraft {
  conditions: WorkloadCondition[];
  readonly #autoscaler: Autoscaler;
  readonly #nowMs: number;

  constructor(autoscaler: Autoscaler, nowMs: number) {
    this.#autoscaler = autoscaler;
    this.#nowMs = nowMs;
    this.conditions = [...(autoscaler.status?.conditions ?? [])];
  }

  /** Whether a condition is true. */
  is(type: string): boolean {
    return this.conditions.find((condition) => condition.type === type)?.status === "True";
  }

  set(type: string, isTrue: boolean, reason: string, message: string): void {
    const status = isTrue ? "True" : "False";
    const before = this.conditions.find((condition) => condition.type === type);
    const isSame = before?.status === status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = isSame ? before.lastTransitionTime : printTime(this.#nowMs);
    const next = { type, status, lastTransitionTime, reason, message } as WorkloadCondition;
    this.conditions = before
      ? this.conditions.map((condition) => (condition === before ? next : condition))
      : [...this.conditions, next];
  }

  /** Only conditions change, because the scale target is unknown. */
  unscaled(): AutoscalerStatus {
    return {
      ...this.#autoscaler.status,
      desiredReplicas: this.#autoscaler.status?.desiredReplicas ?? 0,
      conditions: this.conditions,
    };
  }

  finish(
    current: number,
    desired: number | undefined,
    metrics: AutoscalerStatus["currentMetrics"],
    isScaled: boolean,
  ): AutoscalerStatus {
    const { metadata, status = {} } = this.#autoscaler;
    const lastScaleTime = isScaled ? printTime(this.#nowMs) : status.lastScaleTime;
    return {
      observedGeneration: metadata.generation ?? 0,
      ...(lastScaleTime !== undefined && { lastScaleTime }),
      ...(current > 0 && { currentReplicas: current }),
      desiredReplicas: desired ?? status.desiredReplicas ?? 0,
      ...(metrics !== undefined && { currentMetrics: metrics }),
      conditions: this.conditions,
    };
  }
}
