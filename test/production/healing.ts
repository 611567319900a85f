import { setTimeout as sleep } from "node:timers/promises";
import type { Line, Reply } from "./lines.ts";

/** What happened to the requests of all clients. */
export class Record {
  requests = 0;
  /** Requests that needed more than one attempt. */
  healed = 0;
  /** How long the slowest of them took until it was answered. */
  longestHealMs = 0;
  /** How often an attempt failed, by the reason. */
  readonly failures = new Map<string, number>();

  noteFailure(reason: string): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}

/** A request that was not answered however often it was repeated. */
export class Unhealed extends Error {}

const HEAL_WITHIN_MS = 45_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** An answer, and whether an earlier attempt may have done the same before. */
export interface Healed extends Reply {
  readonly isRepeated: boolean;
}

/** Repeats a request while there is no answer, or one that says to come again, as clients of Kubernetes do. */
export async function healingCall(
  line: Line,
  record: Record,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
): Promise<Healed> {
  const began = performance.now();
  record.requests++;
  for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt++, pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const reply = await line.call(method, path, body).catch((error: NodeJS.ErrnoException) => reasonOf(error));
    const reason = typeof reply === "string" ? reply : refusal(reply);
    if (typeof reply !== "string" && reason === undefined) {
      const tookMs = performance.now() - began;
      if (attempt > 1) {
        record.healed++;
        record.longestHealMs = Math.max(record.longestHealMs, tookMs);
      }
      return { ...reply, isRepeated: attempt > 1 };
    }
    record.noteFailure(`${line.protocol} ${method}: ${reason}`);
    if (performance.now() - began > HEAL_WITHIN_MS)
      throw new Unhealed(`${method} ${path}: ${reason}, ${attempt} times`);
    await sleep(pauseMs);
  }
}

function refusal({ status, body }: Reply): string | undefined {
  if (status !== 429 && status < 500) return undefined;
  return `${status} ${typeof body === "string" ? body.slice(0, 80) : body?.message}`;
}

const reasonOf = (error: NodeJS.ErrnoException): string => error.code ?? error.message;
