import type { Call } from "../../base/api/call.ts";

/** What a request costs: seats while it runs, and seats for some time after it, while its events are delivered. */
export interface Work {
  readonly seats: number;
  readonly finalSeats: number;
  readonly lingerMs: number;
}

/** Current numbers of the requests of one FlowSchema in one priority level. */
export interface FlowCounts {
  readonly schema: string;
  waiting: number;
  waitingSeats: number;
  executing: number;
  executingSeats: number;
}

/** The estimated duration of a request in seconds. Compat: `estimatedServiceDuration`. */
export const ESTIMATE_SECONDS = 0.003;

/** A request that waits, runs, or has ended. */
export class Ticket {
  readonly counts: FlowCounts;
  readonly distinguisher: string;
  readonly arrivedMs: number;
  /** What is shown about the request, such as its user. */
  readonly about: Pick<Call, "user" | "info">;
  readonly seats: number;
  /** The most seats that it takes at any time. */
  readonly maxSeats: number;
  finalSeats: number;
  lingerMs: number;
  /** Called once if the request had to wait: whether it runs now. */
  decided: ((isExecuting: boolean) => void) | undefined;
  startedMs: number | undefined;
  readonly queue: Queue | undefined;
  /** The progress of the queue set when the request arrived. */
  readonly arrivalR: number;
  /** Seat-seconds that it needs, as far as they are known before it runs. */
  readonly totalWork: number;
  readonly finalWork: number;
  hasEnded = false;

  constructor(
    given: Pick<Ticket, "counts" | "distinguisher" | "about" | "arrivedMs" | "arrivalR" | "queue">,
    { seats, finalSeats, lingerMs }: Work,
  ) {
    this.counts = given.counts;
    this.distinguisher = given.distinguisher;
    this.about = given.about;
    this.arrivedMs = given.arrivedMs;
    this.arrivalR = given.arrivalR;
    this.queue = given.queue;
    this.seats = seats;
    this.finalSeats = finalSeats;
    this.lingerMs = lingerMs;
    this.maxSeats = Math.max(seats, finalSeats);
    this.finalWork = (finalSeats * lingerMs) / 1000;
    this.totalWork = seats * ESTIMATE_SECONDS + this.finalWork;
  }
}

/** One queue. It exists only while it has requests. */
export interface Queue {
  readonly index: number;
  readonly waiting: Set<Ticket>;
  /** Seat-seconds of the waiting requests. */
  waitingWork: number;
  readonly executing: Set<Ticket>;
  seatsInUse: number;
  /** The progress at which its next request runs in the ideal order. */
  nextR: number;
  isActive: boolean;
}

/** A queue without requests. `r`: the progress of its queue set. */
export function emptyQueue(index: number, r: number): Queue {
  return { index, waiting: new Set(), waitingWork: 0, executing: new Set(), seatsInUse: 0, nextR: r, isActive: false };
}
