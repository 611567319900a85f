import type { PodInfo } from "./pod-info.ts";

/** A Pod that waits to be scheduled. */
export interface QueuedPod {
  info: PodInfo;
  /** When it was added, or when the last attempt failed. */
  sinceMs: number;
  /** Decides among Pods of the same priority and time. */
  order: number;
  /** Failed attempts because of plugins, and errors since the last such attempt. */
  unschedulableCount: number;
  errorCount: number;
  /** Names of the plugins that rejected it at the last attempt. */
  rejectors: ReadonlySet<string>;
  /** The plugin that keeps it out of the queue. */
  gate?: string | undefined;
}

/** The initial and the longest wait after a failed attempt. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Upstream: podInitialBackoffSeconds and podMaxBackoffSeconds */
export const DEFAULT_BACKOFF: Backoff = { initialMs: 1000, maxMs: 10_000 };

/** When the wait after the last failed attempt ends. Upstream: getBackoffTime, which rounds down to seconds */
export function backoffEnd({ sinceMs, errorCount, unschedulableCount }: QueuedPod, backoff: Backoff): number {
  const count = errorCount > 0 ? errorCount : unschedulableCount;
  if (count === 0) return 0;
  const durationMs = Math.min(backoff.maxMs, backoff.initialMs * 2 ** (count - 1));
  return Math.floor((sinceMs + durationMs) / 1000) * 1000;
}

/** Higher priorities first, then those that have waited longest. Upstream: PrioritySort */
export function isBefore(one: QueuedPod, other: QueuedPod): boolean {
  if (one.info.priority !== other.info.priority) return one.info.priority > other.info.priority;
  return one.sinceMs < other.sinceMs || (one.sinceMs === other.sinceMs && one.order < other.order);
}
