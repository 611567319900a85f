import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { eventually } from "../../../test/support/time.ts";
import { needs } from "../../../test/support/tools.ts";
import { CachedStore } from "../cached-store.ts";
import { type Store, StoreError, type StoreEvent } from "../store.ts";
import { Channel } from "./channel.ts";
import { EtcdClient } from "./client.ts";
import { connectHttp2 } from "./http2-connection.ts";
import { EtcdStore } from "./store.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value);
const PREFIX = "/registry/";
const COUNTER = `${PREFIX}counter`;

describe("three members, one of which fails", needs("etcd"), () => {
  let cluster: EtcdCluster;
  const stores: Store[] = [];
  before(async () => {
    cluster = await startEtcd({ members: 3 });
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await cluster.stop();
  });

  const openStore = (): EtcdStore => {
    const times = { requestTimeoutMs: 2000, pingIntervalMs: 1000, pingTimeoutMs: 500 };
    const store = new EtcdStore({ endpoints: cluster.endpoints, ...times });
    stores.push(store);
    return store;
  };

  it("loses no acknowledged write and no event when the leader is killed", async () => {
    const direct = openStore();
    const replicas = [openStore(), openStore()].map((store) => new CachedStore(store, { prefix: PREFIX }));
    stores.push(...replicas);
    await Promise.all(replicas.map((replica) => replica.ready));
    const start = await direct.revision();
    const history = new History(start, [direct, ...replicas]);
    const work = new Work(replicas);
    const working = work.run();
    await eventually(() => work.acknowledged.length > 50);
    const leader = await findLeader(cluster.endpoints);
    await cluster.kill(leader);
    const killedAtMs = Date.now();
    await eventually(() => work.acknowledgedAfter(killedAtMs) > 100);
    await cluster.restart(leader);
    const restartedAtMs = Date.now();
    await eventually(() => work.acknowledgedAfter(restartedAtMs) > 100);
    work.stop();
    await working;

    const end = await direct.revision();
    await history.waitFor(end);
    assert.ok(work.acknowledged.length > 50, `only ${work.acknowledged.length} writes were acknowledged`);
    history.check(work.acknowledged);
    work.checkCounter(text((await direct.get(COUNTER))?.value));
    assert.deepEqual(work.violations, []);
    for (const replica of replicas) {
      const [mine, theirs] = [await replica.list(PREFIX), await direct.list(PREFIX)];
      assert.deepEqual(mine.entries.map(summary), theirs.entries.map(summary));
    }
  });

  it("moves on from a member that does not answer any more", async () => {
    const leader = await findLeader(cluster.endpoints);
    const store = new CachedStore(openStore(), { prefix: PREFIX });
    stores.push(store);
    await store.ready;
    cluster.freeze(leader, true);
    try {
      const write = await retry(() => store.put(`${PREFIX}frozen/${Math.random()}`, bytes("x"), 0));
      assert.ok(write.ok);
      const page = await retry(() => store.list(`${PREFIX}frozen/`));
      assert.ok(page.revision >= write.revision);
    } finally {
      cluster.freeze(leader, false);
    }
  });
});

interface Acknowledged {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
  readonly atMs: number;
}

/** Writers that use two replicas at once and check that each sees the other's writes. */
class Work {
  readonly acknowledged: Acknowledged[] = [];
  readonly violations: string[] = [];
  readonly #replicas: readonly Store[];
  #increments = 0;
  #openIncrements = 0;
  #isRunning = true;

  constructor(replicas: readonly Store[]) {
    this.#replicas = replicas;
  }

  async run(): Promise<void> {
    const creators = Array.from({ length: 6 }, (_, i) => this.#create(i));
    const counters = Array.from({ length: 4 }, (_, i) => this.#count(i));
    await Promise.all([...creators, ...counters, this.#sampleRevisions()]);
  }

  stop(): void {
    this.#isRunning = false;
  }

  acknowledgedAfter(timeMs: number): number {
    return this.acknowledged.filter(({ atMs }) => atMs > timeMs).length;
  }

  /** Every acknowledged increment counts once; one with unknown outcome may or may not. */
  checkCounter(value: string): void {
    assert.ok(Number(value) >= this.#increments, `${value} of ${this.#increments} acknowledged increments`);
    assert.ok(Number(value) <= this.#increments + this.#openIncrements, `${value} is more than was written`);
  }

  async #create(writer: number): Promise<void> {
    for (let i = 0; this.#isRunning; i++) {
      const [writing, reading] = this.#pair(i);
      const key = `${PREFIX}objects/${writer}-${i}`;
      const revision = await this.#put(writing, { key, value: `${i}`, expected: 0 });
      if (revision === undefined) continue;
      const seen = await retry(async () => reading.get(key));
      if (seen?.modRevision !== revision)
        this.violations.push(`${key}: ${revision} was written, then ${seen?.modRevision} read`);
    }
  }

  async #count(writer: number): Promise<void> {
    for (let i = writer; this.#isRunning; i++) {
      const [writing] = this.#pair(i);
      const current = await retry(async () => writing.get(COUNTER));
      const value = `${Number(text(current?.value)) + 1}`;
      const expected = current?.modRevision ?? 0;
      if ((await this.#put(writing, { key: COUNTER, value, expected })) !== undefined) this.#increments++;
    }
  }

  async #put(store: Store, write: { key: string; value: string; expected: number }): Promise<number | undefined> {
    const { key, value, expected } = write;
    try {
      const result = await store.put(key, bytes(value), expected);
      if (!result.ok) return undefined;
      this.acknowledged.push({ key, value, revision: result.revision, atMs: Date.now() });
      return result.revision;
    } catch (error) {
      requireOutage(error);
      if (key === COUNTER) this.#openIncrements++;
      return undefined;
    }
  }

  async #sampleRevisions(): Promise<void> {
    let last = 0;
    for (let i = 0; this.#isRunning; i++) {
      const revision = await retry(() => this.#pair(i)[0].revision());
      if (revision < last) this.violations.push(`the revision went back from ${last} to ${revision}`);
      last = revision;
    }
  }

  #pair(i: number): [Store, Store] {
    const [one, two] = this.#replicas;
    assert.ok(one !== undefined && two !== undefined);
    return i % 2 === 0 ? [one, two] : [two, one];
  }
}

/** Events received by several watchers. */
class History {
  readonly #abort = new AbortController();
  readonly #seen: StoreEvent[][] = [];
  readonly #known: number[] = [];
  readonly #watching: Promise<void>[];

  constructor(start: number, stores: readonly Store[]) {
    this.#watching = stores.map((store, i) => this.#watch(store, start, i));
  }

  async waitFor(revision: number): Promise<void> {
    await eventually(() => this.#known.every((known) => known >= revision));
    this.#abort.abort();
    await Promise.all(this.#watching);
  }

  check(acknowledged: readonly Acknowledged[]): void {
    const [first = [], ...others] = this.#seen;
    for (const other of others) assert.deepEqual(other.map(summaryOfEvent), first.map(summaryOfEvent));
    const byRevision = new Map(first.map((event) => [event.revision, event]));
    assert.equal(byRevision.size, first.length, "each revision once");
    const revisions = first.map((event) => event.revision);
    assert.deepEqual(
      revisions,
      [...revisions].sort((a, b) => a - b),
    );
    for (const { key, value, revision } of acknowledged) {
      const event = byRevision.get(revision);
      assert.deepEqual([event?.key, text(event?.entry?.value)], [key, value]);
    }
  }

  async #watch(store: Store, start: number, index: number): Promise<void> {
    const events: StoreEvent[] = [];
    this.#seen[index] = events;
    this.#known[index] = start;
    for await (const batch of store.watch(PREFIX, start, this.#abort.signal)) {
      events.push(...batch.events);
      this.#known[index] = batch.revision;
    }
  }
}

function summary(entry: { key: string; value: Uint8Array; modRevision: number }): string {
  return `${entry.key}=${text(entry.value)}@${entry.modRevision}`;
}

function summaryOfEvent(event: StoreEvent): string {
  return `${event.revision} ${event.key}=${text(event.entry?.value)} before ${text(event.previous?.value)}`;
}

async function findLeader(endpoints: readonly string[]): Promise<number> {
  const isLeader = async (endpoint: string) => {
    const client = new EtcdClient(new Channel(connectHttp2, { endpoints: [endpoint] }));
    const status = await client.status(1000).catch(() => undefined);
    client.close();
    return status?.isLeader === true;
  };
  return eventually(
    async () => {
      for (const [index, endpoint] of endpoints.entries()) if (await isLeader(endpoint)) return index;
      return undefined;
    },
    { everyMs: 50, what: "a leader" },
  );
}

/** Reads are safe to repeat; during an outage they may fail for a while. */
async function retry<Result>(read: () => Promise<Result>): Promise<Result> {
  const attempt = async () => {
    try {
      return { result: await read() };
    } catch (error) {
      requireOutage(error);
      return undefined;
    }
  };
  return (await eventually(attempt, { everyMs: 50, what: "an answer" })).result;
}

function requireOutage(error: unknown): void {
  if (error instanceof StoreError && (error.code === "unavailable" || error.code === "timeout")) return;
  throw error;
}
