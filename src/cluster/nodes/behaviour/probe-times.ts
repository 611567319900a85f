import type { Container, Probe } from "../../../kinds/types/container.ts";
import type { Health } from "./behaviour.ts";

/** Milliseconds between two checks of a probe. */
export const periodMs = ({ periodSeconds = 10 }: Probe): number => periodSeconds * 1000;

/**
 * Milliseconds until the first check of a probe that begins now: ticks before the initial delay are skipped. Upstream:
 * worker.doProbe. `sinceMs`: how long the container has been running.
 */
export function firstProbeMs(probe: Probe, sinceMs: number): number {
  const restMs = (probe.initialDelaySeconds ?? 0) * 1000 - sinceMs;
  return Math.max(0, Math.ceil(restMs / periodMs(probe))) * periodMs(probe);
}

/** Milliseconds until a probe that always succeeds has reached its threshold. */
function successMs(probe: Probe | undefined, sinceMs: number): number {
  if (probe === undefined) return 0;
  return firstProbeMs(probe, sinceMs) + ((probe.successThreshold ?? 1) - 1) * periodMs(probe);
}

/** When a container whose probes always succeed is started and ready. Other probes begin when it has started. */
export function probeTimes(
  { startupProbe, readinessProbe }: Container,
  startedMs: number,
): { readonly startMs: number; readonly readyMs: number } {
  const startupMs = successMs(startupProbe, 0);
  const startMs = startedMs + startupMs;
  return { startMs, readyMs: startMs + successMs(readinessProbe, startupMs) };
}

/** The health of such a container. */
export function healthAt(times: ReturnType<typeof probeTimes>, nowMs: number): Health {
  const { startMs, readyMs } = times;
  const isStarted = nowMs >= startMs;
  const isReady = nowMs >= readyMs;
  return { isStarted, isReady, ...(!isReady && { changesMs: isStarted ? readyMs : startMs }) };
}
