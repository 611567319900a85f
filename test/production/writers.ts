import { setTimeout as sleep } from "node:timers/promises";
import { healingCall, type Record } from "./healing.ts";
import type { Line, Reply } from "./lines.ts";

/** Where the objects of the load are. */
export const NAMESPACE = "load";
/** Their path. */
export const OBJECTS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** What they are selected by: every namespace has a ConfigMap of its own besides. */
export const LABELS = { app: "load" };
/** The list of them. */
export const LIST = `${OBJECTS}?labelSelector=app%3D${LABELS.app}`;

const PAUSE_MS = 15;
const UPDATES = 4;

/** What is known of an object by the answers to its only writer. */
export interface Known {
  /** The newest state that was acknowledged: how often it was written, or that it is gone. */
  acknowledged: number | "gone";
  /** What is being written. */
  pending: number | "gone" | undefined;
}

/** What writers were told. */
export class Ledger {
  readonly objects = new Map<string, Known>();
  creates = 0;
  updates = 0;
  deletes = 0;
  /** The longest time in which nobody was acknowledged anything. */
  longestGapMs = 0;
  #lastMs: number | undefined;

  /** Notes an acknowledged write. */
  note(what: "creates" | "updates" | "deletes"): void {
    this[what]++;
    const nowMs = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, nowMs - (this.#lastMs ?? nowMs));
    this.#lastMs = nowMs;
  }

  get acknowledged(): number {
    return this.creates + this.updates + this.deletes;
  }

  /** What is acknowledged now. */
  snapshot(): Map<string, Known["acknowledged"]> {
    return new Map([...this.objects].map(([name, { acknowledged }]) => [name, acknowledged]));
  }
}

/** Creates objects, updates each some times under the version it was told, and deletes every third, until the signal aborts. */
export async function write(
  id: string,
  line: Line,
  ledger: Ledger,
  record: Record,
  signal: AbortSignal,
): Promise<void> {
  for (let number = 0; !signal.aborted; number++) {
    const name = `${id}-${number}`;
    const known: Known = { acknowledged: "gone", pending: 0 };
    const created = await healingCall(line, record, ["POST", OBJECTS, objectOf(name, 0)]);
    // An earlier attempt has created it: nobody else uses the name.
    if (created.status !== 201 && !(created.status === 409 && created.isRepeated)) fail("create", name, created);
    ledger.objects.set(name, known);
    known.acknowledged = 0;
    ledger.note("creates");
    for (let value = 1; value <= UPDATES && !signal.aborted; value++) {
      await sleep(PAUSE_MS);
      known.pending = value;
      await update(name, value, line, record);
      known.acknowledged = value;
      ledger.note("updates");
    }
    if (number % 3 === 2) {
      known.pending = "gone";
      const deleted = await healingCall(line, record, ["DELETE", `${OBJECTS}/${name}`]);
      if (deleted.status !== 200 && !(deleted.status === 404 && deleted.isRepeated)) fail("delete", name, deleted);
      known.acknowledged = "gone";
      ledger.note("deletes");
    }
    known.pending = undefined;
    await sleep(PAUSE_MS);
  }
}

/** An update from one value to the next, which happens once: it names the version that it follows. */
async function update(name: string, value: number, line: Line, record: Record): Promise<void> {
  const before = await healingCall(line, record, ["GET", `${OBJECTS}/${name}`]);
  if (before.status !== 200) fail("get", name, before);
  if (writtenTimes(before.body) !== value - 1) fail(`get before ${value}`, name, before);
  const { resourceVersion } = before.body.metadata;
  const written = await healingCall(line, record, [
    "PUT",
    `${OBJECTS}/${name}`,
    objectOf(name, value, resourceVersion),
  ]);
  if (written.status === 200) return;
  // An earlier attempt may have been carried out without an answer; it can be seen then.
  if (written.status === 409 && written.isRepeated) {
    const after = await healingCall(line, record, ["GET", `${OBJECTS}/${name}`]);
    if (after.status === 200 && writtenTimes(after.body) === value) return;
  }
  fail("update", name, written);
}

/** Reads objects at random: whatever was acknowledged before the question must be in the answer. */
export async function read(line: Line, ledger: Ledger, record: Record, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const before = ledger.snapshot();
    const names = [...before.keys()];
    const name = names[Math.floor(Math.random() * names.length)];
    if (turn % 10 === 9) {
      const list = await healingCall(line, record, ["GET", `${LIST}&limit=500`]);
      if (list.status !== 200) fail("list", "", list);
    } else if (name !== undefined) {
      const got = await healingCall(line, record, ["GET", `${OBJECTS}/${name}`]);
      if (!isFresh(got, before.get(name), ledger.objects.get(name))) fail(`read ${before.get(name)} of`, name, got);
    }
    await sleep(PAUSE_MS);
  }
}

/** Whether an answer shows what was acknowledged before the question, or something newer. */
function isFresh(
  { status, body }: Reply,
  expected: Known["acknowledged"] | undefined,
  now: Known | undefined,
): boolean {
  if (expected === "gone") return status === 404;
  if (status === 404) return now?.acknowledged === "gone" || now?.pending === "gone";
  return status === 200 && writtenTimes(body) >= Number(expected);
}

function objectOf(name: string, value: number, resourceVersion?: string) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, resourceVersion, labels: LABELS },
    data: { value: String(value) },
  };
}

/** How often an object was written. */
export function writtenTimes(object: { readonly data?: { readonly value?: string } }): number {
  return Number(object.data?.value);
}

function fail(
  what: string,
  name: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): never {
  throw new Error(`${what} ${name}: ${status} ${JSON.stringify(body).slice(0, 400)}`);
}
