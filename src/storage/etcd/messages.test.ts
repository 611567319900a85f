import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  decodeLease,
  decodeMembers,
  decodeRange,
  decodeStatus,
  decodeTxn,
  decodeWatch,
  encodeCompaction,
  encodeLeaseGrant,
  encodeLeaseId,
  encodeRange,
  encodeTxn,
  encodeWatchCancel,
  encodeWatchCreate,
  encodeWatchProgress,
} from "./messages.ts";
import { ProtobufWriter } from "./protobuf.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const encode = (write: (writer: ProtobufWriter) => void) => new ProtobufWriter().encode(write);
const text = (value: string) => Buffer.from(value).toString("hex");

/** A response header with ids that a double cannot represent. */
function writeHeader(writer: ProtobufWriter, revision: number): void {
  writer.message(1, () => {
    writer.integer(4, 7);
    writer.integer(3, revision);
    writer.integer(2, 0xfedcba9876543210n);
    writer.integer(1, 0xffffffffffffffffn);
  });
}

function writeEntry(writer: ProtobufWriter, field: number, value: string): void {
  writer.message(field, () => {
    writer.bytes(5, value);
    writer.integer(4, 3);
    writer.integer(3, 9);
    writer.integer(2, 5);
    writer.bytes(1, "/k");
  });
}

const entry = (value: string) => ({
  key: "/k",
  value: new Uint8Array(Buffer.from(value)),
  createRevision: 5,
  modRevision: 9,
});

describe("etcd requests", () => {
  it("have etcd's field numbers", () => {
    const range = {
      key: "a",
      rangeEnd: "b",
      limit: 2,
      revision: 3,
      serializable: true,
      keysOnly: true,
      countOnly: true,
    };
    assert.equal(hex(encodeRange(range)), "0a0161120162180220033801400148 01".replace(" ", ""));
    assert.equal(hex(encodeCompaction(300)), "08ac02");
    assert.equal(hex(encodeLeaseGrant(60)), "083c");
    assert.equal(hex(encodeLeaseId(2n ** 62n)), "08808080808080808040");
    assert.equal(hex(encodeWatchCancel(1)), "12020801");
    assert.equal(hex(encodeWatchProgress()), "1a00");
    const create = "0a0161120162180420013001" + "4001";
    assert.equal(
      hex(encodeWatchCreate({ key: "a", rangeEnd: "b", startRevision: 4, withPrevious: true })),
      `0a0e${create}`,
    );
  });

  it("compare with revision zero explicitly", () => {
    const success = { type: "put", key: "k", value: Buffer.from("v"), lease: 1n } as const;
    const failure = { type: "range", request: { key: "k" } } as const;
    const compare = (modRevision: number) => ({ compare: { key: "k", modRevision }, success, failure });
    const operations = "120a12080a016b120176" + "1801" + "1a050a030a016b";
    assert.equal(hex(encodeTxn(compare(0))), `0a0710021a016b3000${operations}`);
    assert.equal(hex(encodeTxn(compare(5))), `0a0710021a016b3005${operations}`);
    const remove = encodeTxn({ compare: { key: "k", modRevision: 5 }, success: { type: "delete", key: "k" } });
    assert.equal(hex(remove), `0a0710021a016b300512051a030a01${text("k")}`);
  });
});

describe("etcd responses", () => {
  it("decode entries, counts and revisions, but no ids", () => {
    const range = encode((w) => {
      w.integer(4, 12);
      w.boolean(3, true);
      writeEntry(w, 2, "v");
      writeHeader(w, 10);
    });
    assert.deepEqual(decodeRange(range), { revision: 10, entries: [entry("v")], more: true, count: 12 });
  });

  it("decode the result of the executed branch of a transaction", () => {
    const refused = encode((w) => {
      w.message(3, () => w.message(1, () => writeEntry(w, 2, "there")));
      writeHeader(w, 10);
    });
    assert.deepEqual(decodeTxn(refused), { revision: 10, succeeded: false, entries: [entry("there")], deleted: 0 });
    const deleted = encode((w) => {
      w.message(3, () => w.message(3, () => w.integer(2, 1)));
      w.boolean(2, true);
      writeHeader(w, 11);
    });
    assert.deepEqual(decodeTxn(deleted), { revision: 11, succeeded: true, entries: [], deleted: 1 });
  });

  it("decode watch events with previous values", () => {
    const bytes = encode((w) => {
      w.message(11, () => {
        writeEntry(w, 3, "old");
        writeEntry(w, 2, "");
        w.integer(1, 1);
      });
      w.message(11, () => writeEntry(w, 2, "new"));
      w.boolean(7, true);
      w.integer(2, 3);
      writeHeader(w, 20);
    });
    const watch = decodeWatch(bytes);
    // Written last element first.
    assert.deepEqual(watch.events, [
      { isDelete: false, entry: entry("new"), previous: undefined },
      { isDelete: true, entry: entry(""), previous: entry("old") },
    ]);
    assert.deepEqual([watch.revision, watch.watchId, watch.fragment, watch.canceled], [20, 3, true, false]);
  });

  it("decode a compacted watch and the progress of all watches", () => {
    const canceled = encode((w) => {
      w.bytes(6, "why");
      w.integer(5, 44);
      w.boolean(4, true);
      writeHeader(w, 50);
    });
    const { compactRevision, cancelReason, canceled: isCanceled } = decodeWatch(canceled);
    assert.deepEqual([isCanceled, compactRevision, cancelReason], [true, 44, "why"]);
    const progress = decodeWatch(Buffer.from("0a02180910ffffffffffffffffff01", "hex"));
    assert.deepEqual([progress.revision, progress.watchId, progress.events.length], [9, -1, 0]);
  });

  it("decode leases, members and status", () => {
    const lease = encode((w) => {
      w.integer(3, 60);
      w.integer(2, 0x7fffffffffffffffn);
      writeHeader(w, 1);
    });
    assert.deepEqual(decodeLease(lease), { id: 0x7fffffffffffffffn, ttlSeconds: 60, error: "" });
    const status = encode((w) => {
      w.integer(4, 0xfedcba9876543210n);
      w.integer(3, 4096);
      w.bytes(2, "3.7.3");
      writeHeader(w, 1);
    });
    const expected = { version: "3.7.3", dbSizeBytes: 4096, isLeader: true, hasLeader: true, errors: [] };
    assert.deepEqual(decodeStatus(status), expected);
    const members = encode((w) => {
      w.message(2, () => {
        w.bytes(4, "http://127.0.0.1:2379");
        w.bytes(2, "one");
        w.integer(1, 0xfedcba9876543210n);
      });
      writeHeader(w, 1);
    });
    assert.deepEqual(decodeMembers(members), [
      { name: "one", clientUrls: ["http://127.0.0.1:2379"], isLearner: false },
    ]);
  });
});
