import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseRequestInfo } from "../../base/api/request-info.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { type LimitResponse, QueueSet } from "./queue-set.ts";
import { SeatDemand } from "./seat-demand.ts";
import { type FlowCounts, Ticket, type Work } from "./ticket.ts";

const ONE: Work = { seats: 1, finalSeats: 0, lingerMs: 0 };
const QUEUE: LimitResponse = { type: "Queue", queues: 8, handSize: 1, queueLengthLimit: 3 };

class Bench {
  readonly clock = new ManualClock(0);
  readonly counts: FlowCounts = { schema: "s", waiting: 0, waitingSeats: 0, executing: 0, executingSeats: 0 };
  readonly set: QueueSet;

  constructor(limit: number, response: LimitResponse = QUEUE) {
    this.set = new QueueSet(this.clock, new SeatDemand(() => this.clock.monotonic()), response, limit);
  }

  try(flow: number, work: Work = ONE) {
    const about = {
      user: { name: `user-${flow}`, groups: [] },
      info: parseRequestInfo("GET", "/", new URLSearchParams()),
    };
    return this.set.start(work, [flow], { counts: this.counts, distinguisher: String(flow), about });
  }

  start(flow: number, work: Work = ONE): Ticket {
    const ticket = this.try(flow, work);
    assert.ok(ticket instanceof Ticket, String(ticket));
    return ticket;
  }
}

suite("queues and seats of a priority level", () => {
  test("requests run while there are seats, then wait, then are rejected", () => {
    const bench = new Bench(2);
    const tickets = Array.from({ length: 5 }, () => bench.start(1));
    assert.deepEqual(
      tickets.map(({ startedMs }) => startedMs !== undefined),
      [true, true, false, false, false],
    );
    assert.equal(bench.try(1), "queue-full");
    assert.equal(bench.set.waiting, 3);
    bench.set.finish(tickets[0] as Ticket);
    assert.notEqual(tickets[2]?.startedMs, undefined);
    assert.equal(bench.set.executing, 2);
    assert.equal(bench.set.totals.rejected, 1);
  });

  test("another flow is served although one flow has filled its queue", async () => {
    const bench = new Bench(1);
    const running = bench.start(1);
    const busy = [bench.start(1), bench.start(1), bench.start(1)];
    const other = bench.start(2);
    const order: Ticket[] = [];
    for (const ticket of [...busy, other]) ticket.decided = () => order.push(ticket);
    let current: Ticket | undefined = running;
    while (current) {
      await bench.clock.advance(100);
      const before = order.length;
      bench.set.finish(current);
      current = order[before];
    }
    assert.equal(order.indexOf(other), 0, "the flow that has used nothing comes first");
    assert.equal(order.length, 4);
  });

  test("flows with requests of different duration get the same time", async () => {
    const bench = new Bench(1);
    const used = new Map([
      [1, 0],
      [2, 0],
    ]);
    const duration = new Map([
      [1, 100],
      [2, 10],
    ]);
    const order: [number, Ticket][] = [];
    const enqueue = (flow: number): void => {
      const ticket = bench.start(flow);
      if (ticket.startedMs !== undefined) order.push([flow, ticket]);
      else ticket.decided = () => order.push([flow, ticket]);
    };
    for (const flow of [1, 2]) for (let index = 0; index < 3; index++) enqueue(flow);
    for (let turn = 0; turn < 500; turn++) {
      const [flow, ticket] = order.shift() as [number, Ticket];
      const ms = duration.get(flow) ?? 0;
      await bench.clock.advance(ms);
      used.set(flow, (used.get(flow) ?? 0) + ms);
      bench.set.finish(ticket);
      enqueue(flow);
    }
    const ratio = (used.get(1) ?? 0) / (used.get(2) ?? 1);
    assert.ok(ratio > 0.8 && ratio < 1.25, String(ratio));
  });

  test("a wide request takes several seats, and runs alone if there are too few", () => {
    const bench = new Bench(4);
    const wide = bench.start(1, { ...ONE, seats: 3 });
    assert.equal(bench.set.seatsInUse, 3);
    const second = bench.start(2, { ...ONE, seats: 3 });
    assert.equal(second.startedMs, undefined);
    bench.set.finish(wide);
    assert.notEqual(second.startedMs, undefined);
    const huge = bench.start(3, { ...ONE, seats: 100 });
    bench.set.finish(second);
    assert.notEqual(huge.startedMs, undefined);
    const next = bench.start(4);
    assert.equal(next.startedMs, undefined);
    bench.set.finish(huge);
    assert.notEqual(next.startedMs, undefined);
  });

  test("seats of a write stay taken while its events are delivered", async () => {
    const bench = new Bench(2);
    const write = bench.start(1, { seats: 1, finalSeats: 2, lingerMs: 50 });
    const next = bench.start(2);
    bench.set.finish(write);
    assert.equal(next.startedMs, undefined);
    await bench.clock.advance(50);
    assert.notEqual(next.startedMs, undefined);
    bench.set.finish(next);
    assert.equal(bench.set.seatsInUse, 0);
    assert.ok(bench.set.isIdle);
    assert.deepEqual(bench.set.queues, []);
  });

  test("a cancelled request leaves its queue and is counted once", () => {
    const bench = new Bench(1);
    const running = bench.start(1);
    const waiting = bench.start(1);
    const decisions: boolean[] = [];
    waiting.decided = (isExecuting) => decisions.push(isExecuting);
    bench.set.cancel(waiting);
    bench.set.cancel(waiting);
    bench.set.finish(running);
    bench.set.finish(running);
    assert.deepEqual(decisions, [false]);
    assert.deepEqual(bench.set.totals, { dispatched: 1, rejected: 1, cancelled: 1 });
    assert.deepEqual(
      { ...bench.counts },
      { schema: "s", waiting: 0, waitingSeats: 0, executing: 0, executingSeats: 0 },
    );
  });

  test("a level without queues rejects, and an exempt one never does", () => {
    const rejecting = new Bench(1, { type: "Reject" });
    rejecting.start(1);
    assert.equal(rejecting.try(1), "concurrency-limit");
    const exempt = new Bench(0, { type: "Exempt" });
    for (let index = 0; index < 10; index++) exempt.start(index);
    assert.equal(exempt.set.executing, 10);
  });

  test("more seats let waiting requests run", () => {
    const bench = new Bench(1);
    bench.start(1);
    const waiting = bench.start(2);
    bench.set.configure(QUEUE, 2);
    assert.notEqual(waiting.startedMs, undefined);
  });

  test("ten million queues cost nothing until they are used", () => {
    const bench = new Bench(1, { type: "Queue", queues: 10_000_000, handSize: 1, queueLengthLimit: 50 });
    bench.start(9_999_999);
    assert.equal(bench.set.queues.length, 1);
  });
});
