import { setTimeout as sleep } from "node:timers/promises";
import { isProcessWaiting } from "./process-activity.ts";
import type { World } from "./world.ts";

/** How long to wait until the control plane is idle. */
export interface SettleOptions {
  /**
   * Minimum idle time, in real time. Default: 25 if a client has used a socket, otherwise 10 while a timer, a file or a socket of
   * this process is pending, otherwise 1.
   */
  readonly quietMs?: number;
  /** Rejects after this real time. Default: 10,000. */
  readonly withinMs?: number;
}

/** Requests and events are on their way for some time. */
const REMOTE_QUIET_MS = 25;
/** A client may be about to send a request: it waits for a retry, a file or another server. */
const WAITING_QUIET_MS = 10;
/** Only work in the thread pool of Node can lead to a request. */
const QUIET_MS = 1;

/** Resolves when nothing has happened in a world for some time. Rejects after `withinMs`. */
export async function settle(world: World, { quietMs, withinMs = 10_000 }: SettleOptions): Promise<void> {
  const { activity } = world;
  const startMs = performance.now();
  for (let moves = -1, sinceMs = startMs; ; ) {
    await activity.calm();
    const nowMs = performance.now();
    const isQuiet = activity.moves === moves && activity.open === 0;
    if (isQuiet && nowMs - sinceMs >= (quietMs ?? defaultQuietMs(world))) return;
    if (!isQuiet) {
      moves = activity.moves;
      sinceMs = nowMs;
    }
    if (nowMs - startMs > withinMs) throw restless(world, withinMs);
    await sleep(1);
  }
}

function defaultQuietMs({ activity, clock }: World): number {
  if (activity.isRemote) return REMOTE_QUIET_MS;
  return isProcessWaiting() || clock.isDueWithin(WAITING_QUIET_MS) ? WAITING_QUIET_MS : QUIET_MS;
}

function restless({ requests }: World, withinMs: number): Error {
  const last = requests.list().slice(-5);
  const texts = last.map(({ user, verb, path }) => `${user} ${verb} ${path}`).join("; ");
  const text = `the control plane is not idle after ${withinMs} ms`;
  return new Error(`${text}; last requests: ${texts || "none"}. Check for a client that writes in a loop.`);
}
