import type { Container, Probe } from "../../../kinds/types/container.ts";
import type { Health } from "./behaviour.ts";

const DEFAULT_PERIOD_S = 10;

/** Milliseconds until a probe that always succeeds has reached its threshold. */
function successMs(probe: Probe | undefined): number {
  if (probe === undefined) return 0;
  const { initialDelaySeconds = 0, periodSeconds = DEFAULT_PERIOD_S, successThreshold = 1 } = probe;
  // Upstream: worker.doProbe. Ticks before the initial delay are skipped.
  const ticks = Math.ceil(initialDelaySeconds / periodSeconds) + successThreshold - 1;
  return ticks * periodSeconds * 1000;
}

/** When a container whose probes always succeed is started and ready. */
export function probeTimes(
  { startupProbe, readinessProbe }: Container,
  startedMs: number,
): { readonly startMs: number; readonly readyMs: number } {
  const startMs = startedMs + successMs(startupProbe);
  return { startMs, readyMs: Math.max(startMs, startedMs + successMs(readinessProbe)) };
}

/** The health of such a container. */
export function healthAt(times: ReturnType<typeof probeTimes>, nowMs: number): Health {
  const { startMs, readyMs } = times;
  const isStarted = nowMs >= startMs;
  const isReady = nowMs >= readyMs;
  return { isStarted, isReady, ...(!isReady && { changesMs: isStarted ? readyMs : startMs }) };
}
