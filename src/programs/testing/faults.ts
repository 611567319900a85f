import { inspect } from "node:util";
import { type ApiError, conflict, expired, MODIFIED, receivedError } from "../../base/api/api-error.ts";
import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { ApiReply, WatchEvent } from "../../base/api/reply.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import { callers } from "./caller.ts";
import { type Span, spanMs } from "./clock.ts";
import {
  type FaultLimits,
  Limit,
  matchesCall,
  matchesEvent,
  matchesStream,
  type RequestMatch,
  requireKnown,
} from "./match.ts";
import { OpenWatch } from "./open-watch.ts";

/** An injected fault. */
export interface Fault {
  /** The call that injected the fault, such as `conflict({ resource: 'deployments' })`. */
  readonly description: string;
  /** How often the fault has occurred. */
  readonly hits: number;
  /** Removes the fault. */
  remove(): void;
}

/** Which requests are affected, and how often. */
export type FaultOptions = RequestMatch & FaultLimits;

/** Which events of which watches are affected, and how often. */
export interface EventFaultOptions extends FaultOptions {
  /** If omitted: ADDED, MODIFIED and DELETED. */
  readonly event?: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
}

/** What happens instead of, or in addition to, the normal response. */
type Effect =
  | { readonly type: "error"; readonly error: (call: Call) => ApiError }
  | { readonly type: "latency"; readonly ms: number }
  | { readonly type: "stale"; readonly revisions: number }
  | { readonly type: "drop" }
  | { readonly type: "repeat"; readonly copies: number }
  | { readonly type: "late"; readonly ms: number }
  | { readonly type: "cut"; readonly afterEvents: number };

interface Rule {
  readonly match: EventFaultOptions;
  readonly limit: Limit;
  readonly effect: Effect;
}

/** The parts of a control plane that faults use. */
export interface FaultContext {
  readonly clock: Clock;
  readonly random: () => Random;
  /** The served resources as faults name them. */
  readonly served: () => readonly string[];
  /** Drops all history. */
  readonly compact: () => Promise<void>;
}

const WRITES = ["update", "patch", "delete"] as const;
const READS = ["get", "list"] as const;

/**
 * Injects faults into a control plane. Faults match requests by verb, resource, namespace, name, user or client, and
 * occur once, for a while or with a probability. The built-in controllers are clients like others, under their user
 * names.
 */
export class Faults {
  readonly #context: FaultContext;
  #rules: Rule[] = [];
  #injected: Fault[] = [];
  readonly #watches = new Set<OpenWatch>();

  constructor(context: FaultContext) {
    this.#context = context;
  }

  /** Requests fail. Default: 500 InternalError. */
  error(
    options: FaultOptions & {
      readonly code?: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    },
  ): Fault {
    const { code = 500, reason = reasonOf(code), message = "fault injected by a test", retryAfterSeconds } = options;
    const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    const status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      ...details,
      code,
    } as const;
    const error = () => receivedError(code, status);
    return this.#add("error", options, ["code", "reason", "message", "retryAfterSeconds"], { type: "error", error });
  }

  /** Writes fail as if another client had written first. */
  conflict(options: FaultOptions = {}): Fault {
    const error = ({ info }: Call) => conflict(info, info.name, MODIFIED);
    return this.#add("conflict", { verb: WRITES, ...options }, [], { type: "error", error });
  }

  /** Responses are delayed, by the control plane's clock. */
  latency(options: FaultOptions & { readonly by: Span }): Fault {
    return this.#add("latency", options, ["by"], { type: "latency", ms: spanMs(options.by) });
  }

  /** Reads return the state of `revisions` writes ago, as far as it is kept. */
  staleReads(options: FaultOptions & { readonly revisions: number }): Fault {
    const effect = { type: "stale", revisions: options.revisions } as const;
    return this.#add("staleReads", { verb: READS, ...options }, ["revisions"], effect);
  }

  /** Watches omit events. */
  dropEvents(options: EventFaultOptions = {}): Fault {
    return this.#add("dropEvents", options, ["event"], { type: "drop" });
  }

  /** Watches repeat events. Default: each event is sent twice. */
  repeatEvents(options: EventFaultOptions & { readonly copies?: number } = {}): Fault {
    const effect = { type: "repeat", copies: options.copies ?? 2 } as const;
    return this.#add("repeatEvents", options, ["event", "copies"], effect);
  }

  /** Watches delay events and all events after them, by the control plane's clock. */
  delayEvents(options: EventFaultOptions & { readonly by: Span }): Fault {
    return this.#add("delayEvents", options, ["event", "by"], { type: "late", ms: spanMs(options.by) });
  }

  /**
   * Breaks the connections of watches. Without `afterEvents`, those open now; with it, watches that start later, each
   * after that many events.
   */
  cutWatches(options: FaultOptions & { readonly afterEvents?: number } = {}): Fault {
    const { afterEvents } = options;
    const fault = this.#add("cutWatches", options, ["afterEvents"], {
      type: "cut",
      afterEvents: afterEvents ?? Number.POSITIVE_INFINITY,
    });
    if (afterEvents !== undefined) return fault;
    this.#end(options, fault, (watch) => watch.cut());
    return fault;
  }

  /** Ends the watches open now as if their history were compacted: with an ERROR event, 410 Expired. */
  expireWatches(options: FaultOptions = {}): Fault {
    const fault = this.#add("expireWatches", options, [], { type: "cut", afterEvents: Number.POSITIVE_INFINITY });
    const { status } = expired("The resourceVersion for the provided watch is too old.");
    this.#end(options, fault, (watch) => watch.end({ type: "ERROR", status }));
    return fault;
  }

  /** Drops all history: later watches and lists of older states get 410. */
  compact(): Promise<void> {
    return this.#context.compact();
  }

  /** The faults that have never occurred since the last `clear`: check at the end of a test that there are none. */
  unused(): Fault[] {
    return this.#injected.filter(({ hits }) => hits === 0);
  }

  /** Removes all faults. */
  clear(): void {
    for (const { limit } of this.#rules) limit.isRemoved = true;
    this.#rules = [];
    this.#injected = [];
  }

  /** @internal The stage where faults occur: after authentication. */
  readonly stage: Stage = (next) => async (call) => {
    let staleBy = 0;
    for (const { effect } of this.#happening(call, ["error", "latency", "stale"])) {
      if (effect.type === "latency") await this.#context.clock.sleep(effect.ms, call.signal);
      else if (effect.type === "error") throw effect.error(call);
      else if (effect.type === "stale") staleBy = effect.revisions;
    }
    const caller = callers.getStore();
    if (caller) caller.staleBy = staleBy;
    return this.#misbehaving(call, next);
  };

  async #misbehaving(call: Call, next: Handler): Promise<ApiReply> {
    const reply = await next(call);
    if (reply.type !== "watch") return reply;
    const watch = new OpenWatch(call, reply.events, (event) => this.#change(call, event));
    this.#watches.add(watch);
    const cut = this.#rules.find(
      ({ effect, match, limit }) => effect.type === "cut" && matchesStream(match, call) && limit.take(),
    );
    if (cut?.effect.type === "cut") watch.cutAfter(cut.effect.afterEvents);
    return { ...reply, events: watch.events(() => this.#watches.delete(watch)) };
  }

  /** The events that a watch sends instead of `event`: itself, none or copies. A promise if they are delayed. */
  #change(call: Call, event: WatchEvent): WatchEvent[] | Promise<WatchEvent[]> {
    let shown = [event];
    let lateMs = 0;
    for (const { match, limit, effect } of this.#rules) {
      if (effect.type !== "drop" && effect.type !== "repeat" && effect.type !== "late") continue;
      const isKind = match.event === undefined ? event.type !== "BOOKMARK" : event.type === match.event;
      if (!isKind || !matchesStream(match, call) || !matchesEvent(match, event) || !limit.take()) continue;
      if (effect.type === "drop") shown = [];
      else if (effect.type === "repeat") shown = Array.from({ length: effect.copies }, () => event);
      else lateMs += effect.ms;
    }
    return lateMs === 0 ? shown : this.#context.clock.sleep(lateMs, call.signal).then(() => shown);
  }

  #happening(call: Call, types: readonly Effect["type"][]): Rule[] {
    this.#rules = this.#rules.filter(({ limit }) => !limit.isOver);
    return this.#rules.filter(
      ({ match, limit, effect }) => types.includes(effect.type) && matchesCall(match, call) && limit.take(),
    );
  }

  #end(match: RequestMatch, fault: Fault, end: (watch: OpenWatch) => void): void {
    fault.remove();
    for (const watch of [...this.#watches]) {
      if (!matchesStream(match, watch.call)) continue;
      (fault as { hits: number }).hits++;
      end(watch);
    }
  }

  #add(method: string, options: EventFaultOptions, further: readonly string[], effect: Effect): Fault {
    requireKnown(options, further, this.#context.served());
    const limit = new Limit(options, this.#context.clock, this.#context.random);
    this.#rules.push({ match: options, limit, effect });
    const fault = {
      description: `${method}(${inspect(options, { breakLength: Number.POSITIVE_INFINITY })})`,
      get hits() {
        return limit.hits;
      },
      set hits(count) {
        limit.hits = count;
      },
      remove: () => {
        limit.isRemoved = true;
      },
    };
    this.#injected.push(fault);
    return fault;
  }
}

const REASONS: ReadonlyMap<number, string> = new Map([
  ...([
    [400, "BadRequest"],
    [401, "Unauthorized"],
    [403, "Forbidden"],
    [404, "NotFound"],
  ] as const),
  ...([
    [409, "Conflict"],
    [410, "Expired"],
    [422, "Invalid"],
    [429, "TooManyRequests"],
  ] as const),
  ...([
    [500, "InternalError"],
    [503, "ServiceUnavailable"],
    [504, "Timeout"],
  ] as const),
]);

const reasonOf = (code: number): string => REASONS.get(code) ?? "";
