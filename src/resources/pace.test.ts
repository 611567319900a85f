import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ownTurn, pacer, visitInSteps } from "./pace.ts";

suite("pace", () => {
  test("callers of ownTurn do not share a turn of the event loop", async () => {
    const order: string[] = [];
    const nextTurn = () => {
      order.push("turn");
      if (!order.includes("second")) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    const first = ownTurn().then(() => order.push("first"));
    const second = ownTurn().then(() => order.push("second"));
    await Promise.all([first, second]);
    assert.ok(order.slice(order.indexOf("first"), order.indexOf("second")).includes("turn"), order.join());
  });

  test("visitInSteps visits inner nodes before those that contain them", async () => {
    const tree: Readonly<Record<string, readonly string[]>> = { root: ["a", "b"], a: ["c"], c: ["d"] };
    const visited: string[] = [];
    const visit = (node: string): void => void visited.push(node);
    await visitInSteps<string>("root", (node) => tree[node] ?? [], visit, pacer());
    assert.deepEqual(visited.toSorted(), ["a", "b", "c", "d", "root"]);
    for (const [outer, inner] of Object.entries(tree)) {
      for (const one of inner) assert.ok(visited.indexOf(one) < visited.indexOf(outer), `${one} in ${outer}`);
    }
  });
});
