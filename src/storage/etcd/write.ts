import { StoreError, type WriteResult } from "../store.ts";
import type { EtcdClient } from "./client.ts";
import { isOutcomeOpen, unknownOutcome } from "./errors.ts";
import type { Operation, TxnResponse } from "./messages.ts";
import { WatchStream } from "./watch-stream.ts";

/** A write of one key on the condition that its mod revision is `expected`; 0 means that it does not exist. */
export interface ConditionalWrite {
  readonly key: string;
  readonly expected: number;
  readonly success: Operation;
}

/**
 * Writes once, or finds out what became of a write whose answer was lost. Fails with StoreError "unavailable" or
 * "timeout" when that cannot be proved; the write may then have happened, or happen yet.
 */
export async function conditionalWrite(
  client: EtcdClient,
  write: ConditionalWrite,
  timeoutMs: number,
): Promise<WriteResult> {
  const deadline = Date.now() + timeoutMs;
  let lost: unknown;
  for (;;) {
    try {
      const response = await send(client, write, Math.max(1, deadline - Date.now()));
      // A copy sent before may have been under way still: then it is what refused this one.
      if (response.succeeded || lost === undefined) return toResult(response);
    } catch (error) {
      if (!isOutcomeOpen(error)) throw error;
      lost = error;
    }
    const refusal = await findRefusal(client, write, { error: lost, deadline });
    if (refusal !== undefined) return refusal;
  }
}

function send(client: EtcdClient, write: ConditionalWrite, timeoutMs: number): Promise<TxnResponse> {
  const { key, expected, success } = write;
  const failure: Operation = { type: "range", request: { key } };
  return client.txn({ compare: { key, modRevision: expected }, success, failure }, timeoutMs);
}

function toResult(response: TxnResponse): WriteResult {
  if (response.succeeded) return { ok: true, revision: response.revision };
  return { ok: false, current: response.entries[0] };
}

/**
 * After an answer was lost. Resolves to undefined when the write may be sent again, and throws when nothing is sure.
 *
 * - A create could still be under way and take effect after anything we read now, even after somebody else's create and
 *   delete. Nothing can be proved.
 * - For any other write the key's mod revision never returns to `expected`. While it is still there, sending the same
 *   write again is harmless: at most one of the two can win, and either is ours.
 * - Once it is not, the one change that directly followed `expected` decides. If that is not what we wanted to write, ours
 *   was refused for good. If it is, it need not be ours: two writers may well write the same bytes, as two servers do
 *   that count the same counter up. Claiming success would let both win.
 */
async function findRefusal(
  client: EtcdClient,
  write: ConditionalWrite,
  lost: { readonly error: unknown; readonly deadline: number },
): Promise<WriteResult | undefined> {
  const { key, expected, success } = write;
  const remainingMs = lost.deadline - Date.now();
  if (expected === 0 || remainingMs <= 0) throw unknownOutcome(lost.error);
  try {
    const current = (await client.range({ key }, remainingMs)).entries[0];
    if (current?.modRevision === expected) return undefined;
    const successor = await firstChange(client, write, lost.deadline);
    if (successor !== undefined && !isSameChange(success, successor.value)) return { ok: false, current };
  } catch (error) {
    throw unknownOutcome(error instanceof StoreError ? lost.error : error);
  }
  throw unknownOutcome(lost.error);
}

/** What directly followed the expected revision: a value, or its absence after a delete. */
async function firstChange(
  client: EtcdClient,
  write: ConditionalWrite,
  deadline: number,
): Promise<{ readonly value: Uint8Array | undefined } | undefined> {
  const signal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
  for await (const batch of new WatchStream(client, { key: write.key }, write.expected, signal).batches()) {
    const first = batch.events[0];
    if (first !== undefined) return { value: first.entry?.value };
  }
  return undefined;
}

function isSameChange(wanted: Operation, actual: Uint8Array | undefined): boolean {
  if (wanted.type !== "put") return actual === undefined;
  return actual !== undefined && Buffer.compare(wanted.value, actual) === 0;
}
