import { Heap } from "../../base/util/heap.ts";

/** The requests that wait: of one flow, or of all flows. */
export interface Load {
  readonly requests: number;
  readonly bytes: number;
}

/** Limits of a fair queue. */
export interface FairQueueLimits {
  /** How many requests may wait, and how large their bodies may be together. */
  readonly waiting: Load;
  /** How many requests of one flow may be in service at the same time. */
  readonly servedPerFlow: number;
}

/** A request that waits or is in service. */
export interface Ticket<T> {
  readonly item: T;
  readonly bytes: number;
}

/** Flows that have used more than others and have no request are remembered up to this number. */
const MAX_REMEMBERED_FLOWS = 1000;
/** A request that uses nothing would let its flow be served forever. */
const MIN_COST_MS = 1;
/** What a request is expected to use, until it has been served and its cost is known. */
const EXPECTED_BYTES_PER_MS = 16 * 1024;

class Entry<T> implements Ticket<T> {
  readonly flow: Flow<T>;
  readonly item: T;
  readonly bytes: number;
  readonly order: number;
  state: "waiting" | "served" | "gone" = "waiting";
  previous: Entry<T> | undefined;
  next: Entry<T> | undefined;

  constructor(flow: Flow<T>, item: T, bytes: number, order: number) {
    this.flow = flow;
    this.item = item;
    this.bytes = bytes;
    this.order = order;
  }

  get expectedMs(): number {
    return MIN_COST_MS + this.bytes / EXPECTED_BYTES_PER_MS;
  }
}

/** The requests of one user: a linked list, so that any of them is removed in O(1). */
class Flow<T> {
  readonly name: string;
  /** The virtual time: what the flow has used, relative to the other flows. */
  usedMs: number;
  first: Entry<T> | undefined;
  last: Entry<T> | undefined;
  requests = 0;
  bytes = 0;
  served = 0;

  constructor(name: string, usedMs: number) {
    this.name = name;
    this.usedMs = usedMs;
  }

  append(entry: Entry<T>): void {
    entry.previous = this.last;
    if (this.last) this.last.next = entry;
    else this.first = entry;
    this.last = entry;
    this.requests += 1;
    this.bytes += entry.bytes;
  }

  unlink(entry: Entry<T>): void {
    const { previous, next } = entry;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.last = previous;
    entry.previous = undefined;
    entry.next = undefined;
    this.requests -= 1;
    this.bytes -= entry.bytes;
  }
}

/**
 * A queue with a FIFO per flow. The flow that has used least is served next: start-time fair queueing, where the virtual
 * time of a flow is the processor time that its requests have used. A flow that has been idle starts at the virtual time
 * of the flow that is in service, so it cannot save up. All operations take O(log n) of the number of flows.
 *
 * If the queue is full, the flow that fills most of it loses its newest request to a flow that fills less.
 */
export class FairQueue<T> {
  readonly #limits: FairQueueLimits;
  readonly #flows = new Map<string, Flow<T>>();
  /** Flows with waiting requests and none in service. */
  readonly #fresh = new Heap<Flow<T>>(isNext);
  /** Flows with waiting requests and some in service, but fewer than they may have. */
  readonly #served = new Heap<Flow<T>>(isNext);
  /** Flows with waiting requests, the one that fills most of the queue first. */
  readonly #largest: Heap<Flow<T>>;
  /** Flows without any request that have used more than the flow in service. */
  readonly #resting = new Heap<Flow<T>>((a, b) => a.usedMs < b.usedMs);
  #requests = 0;
  #bytes = 0;
  #inService = 0;
  #order = 0;
  /** Virtual time: `usedMs` of the flow that was served last, when its request was taken. */
  #virtualMs = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
    this.#largest = new Heap((a, b) => this.#share(a) > this.#share(b));
  }

  /** Everything that waits. */
  get load(): Load {
    return { requests: this.#requests, bytes: this.#bytes };
  }

  /** The number of flows that the queue has to know. */
  get flowCount(): number {
    return this.#flows.size;
  }

  /** What waits of one flow. */
  loadOf(name: string): Load {
    const { requests = 0, bytes = 0 } = this.#flows.get(name) ?? {};
    return { requests, bytes };
  }

  /** Whether a further request of a flow could wait, possibly in the place of a request of another flow. */
  hasRoom(name: string, bytes: number): boolean {
    if (bytes > this.#limits.waiting.bytes || this.#limits.waiting.requests < 1) return false;
    return !this.#isFull(bytes) || this.#largestBut(name, bytes) !== undefined;
  }

  /**
   * Appends a request to its flow. `displaced` are the requests that lost their place. There is no ticket if the queue is
   * full and no flow fills more of it.
   */
  add(name: string, item: T, bytes: number): { ticket: Ticket<T> | undefined; displaced: readonly T[] } {
    const displaced: T[] = [];
    if (!this.hasRoom(name, bytes)) return { ticket: undefined, displaced };
    while (this.#isFull(bytes)) {
      const newest = this.#largestBut(name, bytes)?.last;
      if (newest === undefined) return { ticket: undefined, displaced };
      this.remove(newest);
      displaced.push(newest.item);
    }
    const flow = this.#flowOf(name);
    this.#order += 1;
    const entry = new Entry(flow, item, bytes, this.#order);
    flow.append(entry);
    this.#requests += 1;
    this.#bytes += bytes;
    this.#sort(flow);
    return { ticket: entry, displaced };
  }

  /** Removes a request that waits. Returns false if it does not wait any more. */
  remove(ticket: Ticket<T>): boolean {
    const entry = ticket as Entry<T>;
    if (entry.state !== "waiting") return false;
    this.#leave(entry, "gone");
    this.#sort(entry.flow);
    this.#forgetRested();
    return true;
  }

  /**
   * Takes the next request into service; `done` must follow. With "fresh", only flows count that have no request in
   * service. Undefined if there is no such request.
   */
  take(which: "any" | "fresh" = "any"): Ticket<T> | undefined {
    const flow = this.#nextFlow(which);
    const entry = flow?.first;
    if (flow === undefined || entry === undefined) return undefined;
    this.#virtualMs = Math.max(this.#virtualMs, flow.usedMs);
    flow.usedMs += entry.expectedMs;
    flow.served += 1;
    this.#inService += 1;
    this.#leave(entry, "served");
    this.#sort(flow);
    this.#forgetRested();
    return entry;
  }

  /** Whether `take` would return a request. */
  hasNext(which: "any" | "fresh" = "any"): boolean {
    return this.#nextFlow(which) !== undefined;
  }

  /** A request that was taken is over. `usedMs` is the processor time that it has used. */
  done(ticket: Ticket<T>, usedMs: number): void {
    const entry = ticket as Entry<T>;
    if (entry.state !== "served") return;
    entry.state = "gone";
    const { flow } = entry;
    flow.usedMs += Math.max(MIN_COST_MS, usedMs) - entry.expectedMs;
    flow.served -= 1;
    this.#inService -= 1;
    this.#sort(flow);
    this.#forgetRested();
  }

  /** Removes and returns everything that waits. */
  clear(): T[] {
    const items: T[] = [];
    for (const flow of [...this.#flows.values()]) {
      while (flow.first) {
        items.push(flow.first.item);
        this.remove(flow.first);
      }
    }
    return items;
  }

  #nextFlow(which: "any" | "fresh"): Flow<T> | undefined {
    return which === "fresh" ? this.#fresh.first : firstOf(this.#fresh.first, this.#served.first);
  }

  #flowOf(name: string): Flow<T> {
    const known = this.#flows.get(name);
    const flow = known ?? new Flow<T>(name, this.#virtualMs);
    if (known === undefined) this.#flows.set(name, flow);
    else if (flow.requests === 0 && flow.served === 0) flow.usedMs = Math.max(flow.usedMs, this.#virtualMs);
    return flow;
  }

  #leave(entry: Entry<T>, state: "served" | "gone"): void {
    entry.flow.unlink(entry);
    entry.state = state;
    this.#requests -= 1;
    this.#bytes -= entry.bytes;
  }

  /** Puts a flow where it belongs after a change. */
  #sort(flow: Flow<T>): void {
    const isWaiting = flow.requests > 0;
    place(this.#largest, flow, isWaiting);
    place(this.#fresh, flow, isWaiting && flow.served === 0);
    place(this.#served, flow, isWaiting && flow.served > 0 && flow.served < this.#limits.servedPerFlow);
    place(this.#resting, flow, !isWaiting && flow.served === 0);
  }

  /** Forgets flows that are like new ones, and others if there are too many. */
  #forgetRested(): void {
    const isIdle = this.#requests === 0 && this.#inService === 0;
    for (;;) {
      const flow = this.#resting.first;
      if (flow === undefined) return;
      const isRested = flow.usedMs <= this.#virtualMs;
      if (!isIdle && !isRested && this.#resting.size <= MAX_REMEMBERED_FLOWS) return;
      this.#resting.delete(flow);
      this.#flows.delete(flow.name);
    }
  }

  #isFull(bytes: number): boolean {
    const { waiting } = this.#limits;
    return this.#requests >= waiting.requests || this.#bytes + bytes > waiting.bytes;
  }

  /** The flow that fills most of the queue, if that is more than another flow would with a further request. */
  #largestBut(name: string, bytes: number): Flow<T> | undefined {
    const own = this.loadOf(name);
    const { first } = this.#largest;
    if (first === undefined || first.name === name) return undefined;
    return this.#share(first) > this.#share({ requests: own.requests + 1, bytes: own.bytes + bytes })
      ? first
      : undefined;
  }

  /** The share of the queue that a load fills, by number or by size. */
  #share({ requests, bytes }: Load): number {
    const { waiting } = this.#limits;
    return Math.max(requests / waiting.requests, bytes / waiting.bytes);
  }
}

function isNext<T>(a: Flow<T>, b: Flow<T>): boolean {
  if (a.usedMs !== b.usedMs) return a.usedMs < b.usedMs;
  return (a.first?.order ?? 0) < (b.first?.order ?? 0);
}

function firstOf<T>(a: Flow<T> | undefined, b: Flow<T> | undefined): Flow<T> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isNext(b, a) ? b : a;
}

function place<T>(heap: Heap<T>, item: T, isIn: boolean): void {
  if (isIn) heap.set(item);
  else heap.delete(item);
}
