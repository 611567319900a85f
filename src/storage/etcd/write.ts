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
 * Writes once, or determines the outcome of a write whose response was lost. Fails with StoreError "unavailable" or
 * "timeout" if that is not possible; the write may then have happened, or still happen.
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
      // A copy sent before may have been executed meanwhile, and then caused this failure.
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
 * After a response was lost. Resolves to undefined if the write may be sent again, and throws if the outcome cannot be
 * determined.
 *
 * - A create could still be pending and take effect after anything we read now, even after a create and delete by
 *   another client. Nothing can be proved.
 * - For any other write the key's mod revision never returns to `expected`. While it is `expected`, sending the same
 *   write again is harmless: at most one of the two can succeed, and either is ours.
 * - Otherwise the one change that directly followed `expected` decides. If it differs from our write, ours failed for
 *   good. If it is equal, it need not be ours: two writers may write the same bytes, as two servers that increment the
 *   same counter do. Claiming success would let both succeed.
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

/** The change that directly followed the expected revision: a value, or undefined after a delete. */
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
