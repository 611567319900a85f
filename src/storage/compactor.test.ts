import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../base/util/environment.suite.ts";
import { type CompactedStore, Compactor, type Turn } from "./compactor.ts";

const INTERVAL_MS = 300_000;

/** Rounds are run manually: the clock does not advance by itself. */
const options = () => ({ intervalMs: INTERVAL_MS, clock: new ManualClock() });

/** One key that counts its writes, in a store whose revision other clients advance. */
class Shared implements CompactedStore {
  revision = 100;
  version = 0;
  value = Buffer.alloc(0);
  readonly compactions: number[] = [];
  refusal: Error | undefined;

  async putAtVersion(key: string, value: Uint8Array, version: number): Promise<Turn> {
    assert.equal(key, "compact_rev_key");
    if (version !== this.version) {
      return { succeeded: false, revision: this.revision, version: this.version, value: this.value };
    }
    this.version++;
    this.value = Buffer.from(value);
    return { succeeded: true, revision: ++this.revision, version: 0, value: Buffer.alloc(0) };
  }

  async compact(revision: number): Promise<void> {
    if (this.refusal !== undefined) throw this.refusal;
    this.compactions.push(revision);
  }
}

describe("Compactor", () => {
  it("compacts to the revision of one round ago, and not in its first round", async () => {
    const store = new Shared();
    const compactor = new Compactor(store, options());
    assert.equal(await compactor.round(), 0);
    assert.deepEqual(store.compactions, []);
    store.revision += 50;
    assert.equal(await compactor.round(), 101);
    store.revision += 50;
    assert.equal(await compactor.round(), 152);
    assert.deepEqual([store.compactions, store.value.toString(), store.version], [[101, 152], "152", 3]);
    compactor.close();
  });

  it("leaves the turn to another server, and takes over when that one is gone", async () => {
    const store = new Shared();
    const [one, other] = [1, 2].map(() => new Compactor(store, options()));
    for (let i = 0; i < 3; i++) {
      await one?.round();
      store.revision += 10;
      assert.equal(await other?.round(), [0, 101, 122][i], "a refusal tells what was compacted last");
      store.revision += 10;
    }
    assert.deepEqual(store.compactions, [101, 122]);
    assert.equal(await other?.round(), 153, "it compacts to the revision of its own last round");
    assert.equal(await one?.round(), 153);
    for (const compactor of [one, other]) compactor?.close();
  });

  it("continues after the key was deleted, or has an unknown value", async () => {
    const store = new Shared();
    const compactor = new Compactor(store, options());
    await compactor.round();
    Object.assign(store, { version: 0, value: Buffer.alloc(0) });
    assert.equal(await compactor.round(), 0);
    assert.equal(await compactor.round(), 101);
    Object.assign(store, { version: 9, value: Buffer.from("no number") });
    assert.equal(await compactor.round(), 0);
    assert.equal(await compactor.round(), store.revision - 1);
    compactor.close();
  });

  it("reports a failed compaction and catches up in the next round", async () => {
    const store = new Shared();
    const errors: unknown[] = [];
    const clock = new ManualClock();
    const onError = (error: unknown) => errors.push(error);
    const compactor = new Compactor(store, { intervalMs: INTERVAL_MS, clock, onError });
    store.refusal = new Error("no space");
    await clock.advance(3 * INTERVAL_MS);
    assert.deepEqual([store.version, errors.length], [3, 2], "the first round compacts nothing");
    store.refusal = undefined;
    await clock.advance(INTERVAL_MS);
    assert.deepEqual(store.compactions, [103]);
    compactor.close();
    await clock.advance(10 * INTERVAL_MS);
    assert.equal(store.version, 4, "no round after close");
    assert.match(String(errors[0]), /no space/);
  });
});
