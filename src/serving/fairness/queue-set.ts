import type { Clock } from "../../base/util/clock.ts";
import type { SeatDemand } from "./seat-demand.ts";
import { ESTIMATE_SECONDS, emptyQueue, type Queue, Ticket, type Work } from "./ticket.ts";

/** What happens to requests for which there is no free seat. */
export type LimitResponse =
  /** Requests need no seats. */
  | { readonly type: "Exempt" }
  | { readonly type: "Reject" }
  | { readonly type: "Queue"; readonly queues: number; readonly handSize: number; readonly queueLengthLimit: number };

/** Why a request is rejected, as metrics name it. */
export type Rejection = "concurrency-limit" | "queue-full" | "time-out";

/** Receives the state of a queue set after each change, for metrics that follow it over time. */
export interface QueueSetObserver {
  changed(set: QueueSet, nowMs: number): void;
}

/** Totals since the start. */
export interface QueueSetTotals {
  dispatched: number;
  rejected: number;
  cancelled: number;
}

/**
 * The queues and seats of one priority level: fair queuing for requests that run concurrently. Each flow has a hand of queues;
 * each queue gets the same share of the seats. Compat: `queueset.queueSet`, the same order of requests. Differs: queues are
 * created on use, and the next one is found among those that have requests, so an event costs the same with any number of
 * queues.
 */
export class QueueSet {
  readonly totals: QueueSetTotals = { dispatched: 0, rejected: 0, cancelled: 0 };
  readonly #clock: Pick<Clock, "monotonic" | "setTimer">;
  readonly #demand: SeatDemand;
  readonly #observer: QueueSetObserver | undefined;
  #response: LimitResponse;
  #limit: number;
  readonly #queues = new Map<number, Queue>();
  /** Queues with waiting requests. */
  readonly #ready = new Set<Queue>();
  /** Requests that run without a queue. */
  readonly #unqueued = new Set<Ticket>();
  #active = 0;
  /** Seat-seconds that each active queue could have used since the start. */
  #r = 0;
  #rAtMs: number;
  /** The queue that was served last. */
  #robin = 0;
  #enqueued = 0;
  #waiting = 0;
  #waitingSeats = 0;
  #executing = 0;
  #seatsInUse = 0;

  constructor(
    clock: Pick<Clock, "monotonic" | "setTimer">,
    demand: SeatDemand,
    response: LimitResponse,
    limit: number,
    observer?: QueueSetObserver,
  ) {
    this.#clock = clock;
    this.#demand = demand;
    this.#response = response;
    this.#limit = limit;
    this.#observer = observer;
    this.#rAtMs = clock.monotonic();
  }

  get waiting(): number {
    return this.#waiting;
  }

  get executing(): number {
    return this.#executing;
  }

  get seatsInUse(): number {
    return this.#seatsInUse;
  }

  get waitingSeats(): number {
    return this.#waitingSeats;
  }

  get isIdle(): boolean {
    return this.#waiting === 0 && this.#executing === 0;
  }

  get limit(): number {
    return this.#limit;
  }

  get response(): LimitResponse {
    return this.#response;
  }

  get r(): number {
    return this.#r;
  }

  /** Queues that have requests, by index. */
  get queues(): readonly Queue[] {
    return [...this.#queues.values()].sort((a, b) => a.index - b.index);
  }

  /** Requests that run without a queue. */
  get unqueued(): ReadonlySet<Ticket> {
    return this.#unqueued;
  }

  configure(response: LimitResponse, limit: number): void {
    const now = this.#proceed();
    this.#response = response;
    this.#limit = limit;
    this.#dispatch(now);
    this.#note(now);
  }

  /**
   * Runs a request, queues it, or rejects it. A ticket without `startedMs` waits: set its `decided`. `hand`: the queues of its
   * flow.
   */
  start(
    work: Work,
    hand: readonly number[],
    given: Pick<Ticket, "counts" | "distinguisher" | "about">,
  ): Ticket | Rejection {
    const now = this.#proceed();
    const response = this.#response;
    if (response.type !== "Queue") {
      if (response.type === "Reject" && !this.#fits(Math.max(work.seats, work.finalSeats))) {
        this.totals.rejected++;
        return "concurrency-limit";
      }
      const ticket = new Ticket({ ...given, arrivedMs: now, arrivalR: this.#r, queue: undefined }, work);
      this.#unqueued.add(ticket);
      this.#execute(ticket, now);
      this.#note(now);
      return ticket;
    }
    const queue = this.#pickQueue(hand);
    if (this.#seatsInUse >= this.#limit && queue.waiting.size >= response.queueLengthLimit) {
      this.#settle(queue);
      this.totals.rejected++;
      return "queue-full";
    }
    const ticket = new Ticket({ ...given, arrivedMs: now, arrivalR: this.#r, queue }, work);
    if (!queue.isActive) queue.nextR = this.#r;
    this.#enqueue(queue, ticket);
    this.#dispatch(now);
    bound(queue);
    this.#note(now);
    return ticket;
  }

  /** Removes a waiting request. Does nothing if it runs or has ended. */
  cancel(ticket: Ticket): void {
    const { queue } = ticket;
    if (queue === undefined || !queue.waiting.has(ticket)) return;
    const now = this.#proceed();
    this.#dequeue(queue, ticket);
    ticket.hasEnded = true;
    bound(queue);
    this.#settle(queue);
    this.totals.rejected++;
    this.totals.cancelled++;
    this.#note(now);
    ticket.decided?.(false);
  }

  /** Ends a running request. May be called more than once. */
  finish(ticket: Ticket): void {
    if (ticket.hasEnded || ticket.startedMs === undefined) return;
    ticket.hasEnded = true;
    const now = this.#proceed();
    this.#executing--;
    ticket.counts.executing--;
    const { queue, lingerMs } = ticket;
    if (queue === undefined) this.#unqueued.delete(ticket);
    else {
      queue.executing.delete(ticket);
      const seconds = (now - ticket.startedMs) / 1000;
      queue.nextR += ticket.seats * (seconds - ESTIMATE_SECONDS);
      bound(queue);
    }
    if (lingerMs <= 0) {
      this.#release(ticket, now);
      return;
    }
    this.#clock.setTimer(lingerMs, () => this.#release(ticket, this.#proceed())).unref();
    if (queue !== undefined) this.#settle(queue);
    this.#dispatch(now);
    this.#note(now);
  }

  #release(ticket: Ticket, now: number): void {
    const { queue, maxSeats, counts } = ticket;
    this.#seatsInUse -= maxSeats;
    counts.executingSeats -= maxSeats;
    if (queue !== undefined) {
      queue.seatsInUse -= maxSeats;
      this.#settle(queue);
    }
    this.#dispatch(now);
    this.#note(now);
  }

  /** Advances the progress to now. */
  #proceed(): number {
    const now = this.#clock.monotonic();
    if (this.#active > 0) {
      const seats = Math.min(this.#seatsInUse + this.#waitingSeats, this.#limit);
      this.#r += ((seats / this.#active) * (now - this.#rAtMs)) / 1000;
    }
    this.#rAtMs = now;
    return now;
  }

  /** The queue of the hand with the least work waiting. Starts at another one each time. */
  #pickQueue(hand: readonly number[]): Queue {
    const offset = this.#enqueued % hand.length;
    this.#enqueued++;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let place = 0; place < hand.length; place++) {
      const index = hand[(offset + place) % hand.length] as number;
      const work = this.#queues.get(index)?.waitingWork ?? 0;
      if (work >= least) continue;
      least = work;
      best = index;
    }
    const known = this.#queues.get(best);
    if (known !== undefined) return known;
    const queue = emptyQueue(best, this.#r);
    this.#queues.set(best, queue);
    return queue;
  }

  #enqueue(queue: Queue, ticket: Ticket): void {
    queue.waiting.add(ticket);
    queue.waitingWork += ticket.totalWork;
    this.#ready.add(queue);
    this.#waiting++;
    this.#waitingSeats += ticket.maxSeats;
    ticket.counts.waiting++;
    ticket.counts.waitingSeats += ticket.maxSeats;
    this.#settle(queue);
  }

  #dequeue(queue: Queue, ticket: Ticket): void {
    queue.waiting.delete(ticket);
    queue.waitingWork -= ticket.totalWork;
    if (queue.waiting.size === 0) {
      queue.waitingWork = 0;
      this.#ready.delete(queue);
    }
    this.#waiting--;
    this.#waitingSeats -= ticket.maxSeats;
    ticket.counts.waiting--;
    ticket.counts.waitingSeats -= ticket.maxSeats;
  }

  #execute(ticket: Ticket, now: number): void {
    ticket.startedMs = now;
    this.totals.dispatched++;
    this.#executing++;
    this.#seatsInUse += ticket.maxSeats;
    ticket.counts.executing++;
    ticket.counts.executingSeats += ticket.maxSeats;
  }

  #dispatch(now: number): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) {
      const queue = this.#nextQueue();
      const ticket = firstOf(queue.waiting);
      if (!this.#fits(ticket.maxSeats)) return;
      this.#robin = queue.index;
      this.#dequeue(queue, ticket);
      if (ticket.finalSeats > this.#limit) {
        ticket.finalSeats = this.#limit;
        ticket.lingerMs = (ticket.finalWork / this.#limit) * 1000;
      }
      queue.executing.add(ticket);
      queue.seatsInUse += ticket.maxSeats;
      this.#execute(ticket, now);
      queue.nextR += ticket.totalWork;
      bound(queue);
      ticket.decided?.(true);
    }
  }

  /** The queue whose first request ends first in the ideal order; of equal ones, the next after the one served last. */
  #nextQueue(): Queue {
    let best: Queue | undefined;
    let least = Number.POSITIVE_INFINITY;
    let nearest = Number.POSITIVE_INFINITY;
    for (const queue of this.#ready) {
      const end = queue.nextR + firstOf(queue.waiting).totalWork;
      const ahead = queue.index - this.#robin;
      const distance = ahead > 0 ? ahead : ahead + Number.MAX_SAFE_INTEGER;
      if (end > least || (end === least && distance > nearest)) continue;
      best = queue;
      least = end;
      nearest = distance;
    }
    return best as Queue;
  }

  #fits(seats: number): boolean {
    // A request that needs more seats than there are runs alone.
    if (seats > this.#limit) return this.#executing === 0;
    return this.#seatsInUse + seats <= this.#limit;
  }

  /** Counts active queues, and drops a queue that has nothing left. */
  #settle(queue: Queue): void {
    const isActive = queue.waiting.size > 0 || queue.executing.size > 0;
    if (isActive !== queue.isActive) {
      queue.isActive = isActive;
      this.#active += isActive ? 1 : -1;
    }
    if (!isActive && queue.seatsInUse === 0 && this.#queues.get(queue.index) === queue)
      this.#queues.delete(queue.index);
  }

  #note(now: number): void {
    this.#demand.set(this.#seatsInUse + this.#waitingSeats, now);
    this.#observer?.changed(this, now);
  }
}

/** An idle queue gains no advantage: its next request does not start before it has arrived. */
function bound(queue: Queue): void {
  if (queue.waiting.size === 0) return;
  queue.nextR = Math.max(queue.nextR, firstOf(queue.waiting).arrivalR);
}

function firstOf(tickets: ReadonlySet<Ticket>): Ticket {
  for (const ticket of tickets) return ticket;
  throw new Error("the queue has no requests");
}
