import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ReplicaSet } from "../../../../kinds/types/workloads.ts";
import { byRevision, lastRevision, maxRevision, revisionOf } from "./revisions.ts";

const setOf = (revision: string) =>
  ({ metadata: { annotations: { "deployment.kubernetes.io/revision": revision } } }) as unknown as ReplicaSet;

suite("revisions of ReplicaSets", () => {
  test("have 64 bits", () => {
    const sets = ["3546343826724305831", "3546343826724305832", "2"].map(setOf);
    assert.equal(maxRevision(sets) + 1n, 3546343826724305833n);
    assert.equal(lastRevision(sets), 3546343826724305831n);
    assert.deepEqual(sets.toSorted(byRevision).map(revisionOf), [2n, 3546343826724305831n, 3546343826724305832n]);
  });

  test("are ignored beyond that, and if they are no numbers", () => {
    assert.equal(revisionOf(setOf("9223372036854775807")), 9223372036854775807n);
    for (const text of ["9223372036854775808", "1.5", "", "x"]) assert.equal(revisionOf(setOf(text)), undefined);
  });
});
