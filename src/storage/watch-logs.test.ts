import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Snapshots } from "./snapshots.ts";
import type { Entry, EventIndex, EventTerm, WatchBatch } from "./store.ts";
import { bytes, text } from "./suite/steps.suite.ts";

/** Values of the form `color=red size=small`. Others cannot be read. */
function termsOf(entry: Entry | undefined): EventTerm[] {
  if (entry === undefined) return [];
  return String(text(entry.value))
    .split(" ")
    .map((word) => {
      const [field = "", value] = word.split("=");
      if (value === undefined) throw new Error(`not a term: ${word}`);
      return { field, value };
    });
}

class WordIndex implements EventIndex {
  has: EventIndex["has"] = (event, { field, value }) => {
    let isFound = false;
    const isKnown = this.visit(event, (name, given) => {
      isFound ||= name === field && given === value;
    });
    return isFound || !isKnown;
  };

  visit: EventIndex["visit"] = ({ entry, previous }, visit) => {
    try {
      for (const { field, value } of [...termsOf(entry), ...termsOf(previous)]) visit(field, value);
      return true;
    } catch {
      return false;
    }
  };
}

function setUp() {
  const snapshots = new Snapshots({ revision: 0 });
  const index = new WordIndex();
  const write = (key: string, value?: string) => {
    const revision = snapshots.revision + 1;
    const entry = value === undefined ? undefined : { key, value: bytes(value) };
    const versions = { createRevision: revision, modRevision: revision };
    snapshots.apply([{ revision, key, entry: entry && { ...entry, ...versions }, previous: undefined }]);
  };
  const watch = (revision: number, ...words: string[]) => {
    const terms = words.map((word) => ({ field: word.split("=")[0] ?? "", value: word.split("=")[1] ?? "" }));
    const abort = new AbortController();
    const source = snapshots.watch("/a/", revision, abort.signal, { index, terms });
    const iterator = source[Symbol.asyncIterator]();
    const revisions = async () => {
      const result = await iterator.next();
      assert.ok(!result.done);
      return (result.value as WatchBatch).events.map((event) => event.revision);
    };
    return { source, abort, iterator, revisions };
  };
  return { snapshots, write, watch };
}

describe("watches with an interest", () => {
  it("get changes of objects that have, get or lose the term, each once", async () => {
    const { write, watch } = setUp();
    const { revisions } = watch(0, "color=red");
    const first = revisions();
    write("/a/1", "color=red");
    write("/b/1", "color=red");
    write("/a/2", "color=blue");
    write("/a/1", "color=red size=small");
    write("/a/2", "color=red");
    write("/a/1", "color=blue");
    write("/a/1", "color=green");
    write("/a/2");
    assert.deepEqual(await first, [1, 4, 5, 6, 8]);
  });

  it("get the same if they start late, also earlier than others", async () => {
    const { write, watch } = setUp();
    for (const color of ["red", "blue", "red", "red"]) write(`/a/${color}`, `color=${color}`);
    const late = watch(3, "color=red");
    assert.deepEqual(await late.revisions(), [4]);
    assert.deepEqual(await watch(0, "color=red").revisions(), [1, 3, 4]);
    write("/a/5", "color=red");
    assert.deepEqual(await late.revisions(), [5]);
  });

  it("get changes whose terms cannot be read", async () => {
    const { write, watch } = setUp();
    const waiting = watch(0, "color=red").revisions();
    write("/a/1", "nonsense");
    assert.deepEqual(await waiting, [1]);
    assert.deepEqual(await watch(0, "size=small").revisions(), [1]);
  });

  it("progress with the changes of others, and are not affected by their compaction", async () => {
    const { snapshots, write, watch } = setUp();
    const { source, revisions } = watch(0, "color=red");
    const waiting = revisions();
    for (let i = 1; i <= 10; i++) write(`/a/${i}`, "color=blue");
    assert.equal(source.progress(), 10);
    snapshots.compact(10);
    write("/a/1", "color=red");
    assert.equal(source.progress(), 0);
    assert.deepEqual(await waiting, [11]);
  });

  it("fail if one of their changes was compacted", async () => {
    const { snapshots, write, watch } = setUp();
    const { iterator, revisions } = watch(0, "color=red");
    write("/a/1", "color=red");
    assert.deepEqual(await revisions(), [1]);
    write("/a/1", "color=red size=small");
    write("/a/2", "color=blue");
    snapshots.compact(3);
    await assert.rejects(iterator.next(), { code: "compacted" });
    await assert.rejects(watch(1, "color=green").iterator.next(), { code: "compacted" });
  });

  it("are filed under the term that fewer watches have", async () => {
    const { write, watch } = setUp();
    const woken: number[] = [];
    for (let i = 0; i < 100; i++) {
      void watch(0, "color=red", `number=${i}`)
        .revisions()
        .then(() => woken.push(i));
    }
    await turn();
    write("/a/1", "color=red number=7");
    await turn();
    // The first one had no reason to prefer another term.
    assert.deepEqual(woken.sort(), [0, 7]);
  });

  it("leave no log behind", async () => {
    const { snapshots, write, watch } = setUp();
    const watches = ["color=red", "color=red", "color=blue", "size=small"].map((term) => watch(0, term));
    const ended = watches.map(({ iterator }) => iterator.next());
    assert.equal(snapshots.watchedPrefixes, 1);
    for (const { abort } of watches) abort.abort();
    for (const result of await Promise.all(ended)) assert.equal(result.done, true);
    assert.equal(snapshots.watchedPrefixes, 0);
    write("/a/1", "color=red");
    assert.deepEqual(await watch(0, "color=red").revisions(), [1]);
  });
});
