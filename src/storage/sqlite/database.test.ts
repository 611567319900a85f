import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { bytes } from "../suite/steps.suite.ts";
import { Database, refusalReason } from "./database.ts";
import { type ChangeRow, packRows, unpackRows } from "./messages.ts";

function row(revision: number, key: string, value: string | null): ChangeRow {
  return { revision, key, createRevision: revision, value: value === null ? null : bytes(value), expiresAtMs: null };
}

describe("Database", () => {
  it("writes all rows of a commit or none", (t) => {
    const database = new Database(":memory:");
    t.after(() => database.close());
    database.commit([row(2, "/a", "x"), row(3, "/b", "")]);
    assert.throws(() => database.commit([row(4, "/c", "x"), row(3, "/b", "again")]));
    assert.deepEqual(database.read(0), [row(2, "/a", "x"), row(3, "/b", "")]);
    database.commit([row(4, "/c", null)]);
    assert.deepEqual(database.read(3), [row(4, "/c", null)]);
  });

  it("reads rows in batches", (t) => {
    const database = new Database(":memory:");
    t.after(() => database.close());
    database.commit(Array.from({ length: 2500 }, (_, i) => row(i + 1, `/${i}`, "x")));
    const sizes: number[] = [];
    for (let after = 0; ; ) {
      const rows = database.read(after);
      sizes.push(rows.length);
      if (rows.length === 0) break;
      after = rows.at(-1)?.revision ?? after;
    }
    assert.deepEqual(sizes, [1000, 1000, 500, 0]);
  });

  it("remembers compaction and trims rows", (t) => {
    const database = new Database(":memory:");
    t.after(() => database.close());
    assert.equal(database.compactedRevision(), 0);
    database.commit([row(2, "/a", "x"), row(3, "/a", "y")]);
    database.compact(3);
    database.trim([2, 99]);
    assert.equal(database.compactedRevision(), 3);
    assert.deepEqual(database.read(0), [row(3, "/a", "y")]);
  });
});

describe("packed rows", () => {
  it("survive a round trip", () => {
    const rows = [
      row(2, "/ü", "some"),
      row(3, "/gone", null),
      row(4, "/empty", ""),
      { ...row(5, "/z", "zz"), expiresAtMs: 17 },
    ];
    assert.deepEqual(unpackRows(packRows(rows)), rows);
  });
});

it("distinguishes a full disk from a file in use and from other failures", () => {
  const full = new DatabaseSync(":memory:");
  full.exec("CREATE TABLE t (v BLOB); PRAGMA max_page_count = 3");
  const reasonOf = (statement: string) => {
    try {
      full.exec(statement);
      return undefined;
    } catch (error) {
      return refusalReason(error);
    }
  };
  assert.equal(reasonOf("INSERT INTO t VALUES (zeroblob(1000000))"), "full");
  assert.equal(reasonOf("PRAGMA query_only = 1; INSERT INTO t VALUES (1)"), "other");
  full.close();
});
