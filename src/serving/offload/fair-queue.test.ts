import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { FairQueue, type FairQueueLimits, type Ticket } from "./fair-queue.ts";

const KB = 1024;

function queueOf(limits: Partial<FairQueueLimits> = {}): FairQueue<string> {
  return new FairQueue({ waiting: { requests: 1000, bytes: 1000 * KB }, servedPerFlow: 10, ...limits });
}

/** Adds requests that have the names of their flow and a number. */
function fill(queue: FairQueue<string>, flow: string, count: number, bytes = KB): Ticket<string>[] {
  return Array.from({ length: count }, (_, at) => {
    const { ticket } = queue.add(flow, `${flow}${at}`, bytes);
    return ticket ?? assert.fail(`${flow}${at} found no room`);
  });
}

/** Serves requests one after the other, at the cost of their flow, and returns them in order. */
function serve(queue: FairQueue<string>, count: number, costMs: Readonly<Record<string, number>> = {}): string[] {
  return Array.from({ length: count }, () => {
    const ticket = queue.take() ?? assert.fail("nothing waits");
    queue.done(ticket, costMs[ticket.item.charAt(0)] ?? 10);
    return ticket.item;
  });
}

const countOf = (served: readonly string[], flow: string) => served.filter((item) => item.startsWith(flow)).length;

suite("a fair queue", () => {
  test("is a FIFO as long as there is one flow", () => {
    const queue = queueOf();
    fill(queue, "a", 4);
    assert.deepEqual(serve(queue, 4), ["a0", "a1", "a2", "a3"]);
    assert.equal(queue.take(), undefined);
    assert.deepEqual([queue.load, queue.flowCount], [{ requests: 0, bytes: 0 }, 0]);
  });

  test("serves flows of the same cost in turn", () => {
    const queue = queueOf();
    fill(queue, "a", 3);
    fill(queue, "b", 3);
    fill(queue, "c", 3);
    assert.deepEqual(serve(queue, 9), ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]);
  });

  test("shares processor time, not requests", () => {
    const queue = queueOf();
    fill(queue, "a", 500);
    fill(queue, "b", 500);
    const served = serve(queue, 220, { a: 100, b: 10 });
    assert.ok(Math.abs(countOf(served, "a") - 20) <= 1, served.join(" "));
  });

  test("serves a request of another flow after at most one further request of a flooding flow", () => {
    const queue = queueOf();
    fill(queue, "a", 500, 2 * KB);
    for (let turn = 0; turn < 100; turn += 1) {
      // The flooding flow has one request in service when the other request arrives.
      const running = queue.take() ?? assert.fail();
      assert.equal(running.item.charAt(0), "a");
      queue.add("b", "b", KB);
      queue.done(running, 200);
      assert.deepEqual(serve(queue, 1, { b: 5 }), ["b"]);
    }
  });

  test("does not let a flow save up while it has no request", () => {
    const queue = queueOf();
    fill(queue, "a", 200);
    serve(queue, 100);
    fill(queue, "b", 100);
    assert.equal(countOf(serve(queue, 40), "b"), 20);
  });

  test("remembers what a flow has used while others wait, also if it sends one request after the other", () => {
    const queue = queueOf();
    fill(queue, "b", 20);
    const served: string[] = [];
    for (let turn = 0; turn < 22; turn += 1) {
      if (queue.loadOf("a").requests === 0) queue.add("a", "a", KB);
      served.push(...serve(queue, 1, { a: 100, b: 10 }));
    }
    assert.ok(countOf(served, "a") <= 3, served.join(" "));
  });

  test("charges a request by its size until its cost is known", () => {
    const queue = queueOf();
    fill(queue, "a", 3, 100 * KB);
    fill(queue, "b", 3, KB);
    const order = Array.from({ length: 4 }, () => queue.take()?.item);
    assert.deepEqual(order, ["a0", "b0", "b1", "b2"]);
  });

  test("has no more requests of one flow in service than allowed", () => {
    const queue = queueOf({ servedPerFlow: 2 });
    const [first] = fill(queue, "a", 4);
    fill(queue, "b", 1);
    assert.deepEqual([queue.take()?.item, queue.take()?.item, queue.take()?.item], ["a0", "b0", "a1"]);
    assert.deepEqual([queue.hasNext(), queue.take()], [false, undefined]);
    queue.done(first ?? assert.fail(), 10);
    assert.equal(queue.take()?.item, "a2");
  });

  test("finds the flows that have nothing in service", () => {
    const queue = queueOf();
    fill(queue, "a", 2);
    assert.equal(queue.take("fresh")?.item, "a0");
    assert.equal(queue.take("fresh"), undefined);
    fill(queue, "b", 2);
    assert.equal(queue.take("fresh")?.item, "b0");
    assert.equal(queue.hasNext("fresh"), false);
    assert.equal(queue.hasNext(), true);
  });

  test("forgets a request that is removed, wherever it stands, and removes it once", () => {
    const queue = queueOf();
    const tickets = fill(queue, "a", 5);
    for (const at of [2, 0, 4]) assert.equal(queue.remove(tickets[at] ?? assert.fail()), true);
    assert.equal(queue.remove(tickets[2] ?? assert.fail()), false);
    assert.deepEqual(queue.load, { requests: 2, bytes: 2 * KB });
    assert.deepEqual(serve(queue, 2), ["a1", "a3"]);
    assert.equal(queue.remove(tickets[1] ?? assert.fail()), false);
  });

  test("gives the place of the largest flow's newest request to a smaller flow if it is full", () => {
    const queue = queueOf({ waiting: { requests: 6, bytes: 1000 * KB } });
    fill(queue, "a", 4);
    fill(queue, "b", 2);
    assert.deepEqual(queue.add("a", "a4", KB), { ticket: undefined, displaced: [] });
    assert.deepEqual(queue.add("c", "c0", KB).displaced, ["a3"]);
    assert.deepEqual(queue.add("c", "c1", KB).displaced, ["a2"]);
    // All fill the same share now.
    assert.equal(queue.add("c", "c2", KB).ticket, undefined);
    assert.equal(queue.hasRoom("d", KB), true);
    assert.deepEqual(queue.load, { requests: 6, bytes: 6 * KB });
  });

  test("never exceeds its size, and takes from others only what it needs", () => {
    const queue = queueOf({ waiting: { requests: 1000, bytes: 100 * KB } });
    fill(queue, "a", 10, 6 * KB);
    fill(queue, "b", 4, 10 * KB);
    assert.equal(queue.add("c", "c0", 101 * KB).ticket, undefined);
    assert.deepEqual(queue.add("c", "c0", 10 * KB).displaced, ["a9", "a8"]);
    assert.ok(queue.load.bytes <= 100 * KB);
    assert.equal(queue.load.bytes, 98 * KB);
  });

  test("returns everything that waits when it is cleared", () => {
    const queue = queueOf();
    fill(queue, "a", 2);
    fill(queue, "b", 1);
    const running = queue.take() ?? assert.fail();
    assert.deepEqual(queue.clear(), ["a1", "b0"]);
    queue.done(running, 5);
    assert.deepEqual([queue.load.requests, queue.flowCount], [0, 0]);
  });

  test("remembers a bounded number of flows", () => {
    const queue = queueOf({ waiting: { requests: 10_000, bytes: 2 ** 30 } });
    // A flow with a request in service keeps the queue from starting over.
    fill(queue, "busy", 1);
    const held = queue.take() ?? assert.fail();
    for (let at = 0; at < 5000; at += 1) {
      queue.add(`flow${at}`, "x", KB);
      queue.done(queue.take() ?? assert.fail(), 1000 + at);
    }
    assert.ok(queue.flowCount <= 1002, `${queue.flowCount} flows`);
    queue.done(held, 1);
    assert.equal(queue.flowCount, 0);
  });
});
