import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { ApiReply, WatchEvent } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Clock } from "../../base/util/clock.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import type { Classification, Fairness } from "./fairness.ts";
import type { Rejection } from "./queue-set.ts";
import type { Ticket, Work } from "./ticket.ts";
import { tooManyRequests } from "./too-many-requests.ts";
import type { WatchCounts } from "./watch-counts.ts";
import { estimateWork, ONE_SEAT, type WorkFacts } from "./work-estimate.ts";

/** Options of `shareFairly`. */
export interface FairRequestsOptions {
  readonly fairness: Fairness;
  readonly clock: Clock;
  readonly isLongRunning: (info: RequestInfo) => boolean;
  readonly objectsOf: WorkFacts["objectsOf"];
  readonly watches: WatchCounts;
  /** How long a request may wait for a seat. */
  readonly waitMs: number;
}

/**
 * Lets a request run if its priority level has a free seat for it. Others wait in the queues of their flow, or get 429. A seat
 * is free again when the response is written, or when a watch has sent what exists. Compat: WithPriorityAndFairness.
 */
export function shareFairly(options: FairRequestsOptions): Stage {
  const { fairness, clock, isLongRunning, objectsOf, watches, waitMs } = options;
  const watchersOf: WorkFacts["watchersOf"] = (info, name) => watches.interested(info, name);
  const facts: WorkFacts = { objectsOf, watchersOf };

  const workOf = ({ info, attributes, request }: Call, { state, series }: Classification): Work => {
    const { maxSeats, limits } = state;
    const asked = { info, query: request.query, name: attributes.name };
    return estimateWork(facts, asked, { maxSeats, nominal: limits.nominal }, series.watchers);
  };

  const run = (next: Handler, call: Call, flow: Classification, ticket: Ticket): Eventually<ApiReply> => {
    const { series, state } = flow;
    const { queues } = state;
    const startedMs = ticket.startedMs as number;
    series.dispatched.add();
    if (state.level.response.type !== "Exempt") series.waited.observe((startedMs - ticket.arrivedMs) / 1000);
    const isWatch = call.info.verb === "watch";
    const executed = isWatch ? series.initialized : series.executed;
    const end = (): void => {
      if (ticket.hasEnded) return;
      executed.observe((clock.monotonic() - startedMs) / 1000);
      queues.finish(ticket);
    };
    if (!isWatch) {
      call.whenFinished(end);
      return next(call);
    }
    const forget = watches.add(call.info, call.attributes.name);
    call.whenFinished(() => {
      end();
      forget();
    });
    const withEnd = (reply: ApiReply): ApiReply =>
      reply.type === "watch" ? { ...reply, events: endAfterFirst(reply.events, end) } : reply;
    return proceed(next(call), withEnd);
  };

  const reject = (flow: Classification, reason: Rejection): ApiReply => {
    flow.series.rejected(reason);
    return tooManyRequests(fairness.retryAfter.rejected(flow.state.level.name));
  };

  return (next) => (call) => {
    const { info } = call;
    if (info.verb !== "watch" && isLongRunning(info)) return next(call);
    const flow = fairness.classify(call.user, info);
    const { schema, state, hand, series } = flow;
    call.flow = { schema: schema.uid, level: state.level.uid };
    const work = state.level.response.type === "Exempt" ? ONE_SEAT : workOf(call, flow);
    series.estimatedSeats.observe(Math.max(work.seats, work.finalSeats));
    const ticket = state.queues.start(work, hand, {
      counts: flow.counts,
      distinguisher: flow.distinguisher,
      about: call,
    });
    if (typeof ticket === "string") {
      series.waitedInVain.observe(0);
      return reject(flow, ticket);
    }
    if (ticket.queue) series.queueLength.observe(ticket.queue.waiting.size);
    if (ticket.startedMs !== undefined) return run(next, call, flow, ticket);
    return wait(state.queues, ticket, call.signal).then((isExecuting) => {
      if (isExecuting) return run(next, call, flow, ticket);
      series.waitedInVain.observe((clock.monotonic() - ticket.arrivedMs) / 1000);
      return reject(flow, "time-out");
    });
  };

  /** Waits until the request runs, the client is gone, or it has waited too long. */
  function wait(queues: Classification["state"]["queues"], ticket: Ticket, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = (): void => queues.cancel(ticket);
      const timer = clock.setTimer(waitMs, cancel);
      ticket.decided = (isExecuting) => {
        timer.close();
        signal.removeEventListener("abort", cancel);
        resolve(isExecuting);
      };
      signal.addEventListener("abort", cancel);
      if (signal.aborted) cancel();
    });
  }
}

type Events = AsyncIterable<readonly WatchEvent[]>;

/** The same events. Calls `end` when the second batch is asked for, so when what existed has been sent. */
function endAfterFirst(events: Events, end: () => void): Events {
  return {
    [Symbol.asyncIterator]() {
      const inner = events[Symbol.asyncIterator]();
      let asked = 0;
      return {
        next() {
          if (asked < 2 && ++asked === 2) end();
          return inner.next();
        },
        async return() {
          end();
          return (await inner.return?.()) ?? { done: true as const, value: undefined };
        },
      };
    },
  };
}
