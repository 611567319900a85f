import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { dealQueues, flowHash } from "./shuffle-shard.ts";

/** Queues that k8s.io/apiserver/pkg/util/shufflesharding 0.37.1 deals. */
const DEALT: readonly (readonly [string, string, number, number, readonly number[]])[] = [
  ["global-default", "alice", 128, 6, [55, 62, 126, 125, 105, 1]],
  ["system-nodes", "system:node:n1", 64, 6, [36, 37, 40, 20, 55, 27]],
  ["a", "", 8, 1, [7]],
  ["service-accounts", "system:serviceaccount:team:robot", 128, 8, [57, 65, 74, 23, 15, 92, 30, 14]],
  ["x", "ü", 3, 3, [2, 0, 1]],
];

suite("shuffle sharding", () => {
  for (const [schema, distinguisher, queues, handSize, expected] of DEALT) {
    test(`deals ${handSize} of ${queues} queues to ${schema} ${distinguisher} as kube-apiserver does`, () => {
      assert.deepEqual(dealQueues(flowHash(schema, distinguisher), queues, handSize), expected);
    });
  }
});
