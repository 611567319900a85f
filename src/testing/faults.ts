import { type ApiError, conflict, expired, MODIFIED, receivedError } from "../api/api-error.ts";
import type { Call, Handler, Stage } from "../api/call.ts";
import type { ApiReply, WatchEvent } from "../api/reply.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/random.ts";
import { callers } from "./caller.ts";
import { type Span, spanMs } from "./clock.ts";
import {
  type FaultLimits,
  isMeant,
  isMeantEvent,
  isMeantStream,
  Limit,
  MATCH_MEMBERS,
  type RequestMatch,
  requireKnown,
} from "./match.ts";
import { OpenWatch } from "./open-watch.ts";

/** A fault that was asked for. */
export interface Fault {
  /** How often it has happened. */
  readonly hits: number;
  /** It does not happen any more. */
  remove(): void;
}

/** Which requests, and how often. */
export type FaultOptions = RequestMatch & FaultLimits;

/** Which events of which watches, and how often. */
export interface EventFaultOptions extends FaultOptions {
  /** Absent: ADDED, MODIFIED and DELETED. */
  readonly event?: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
}

/** What happens instead of, or besides, what was asked for. */
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

/** What faults need of their control plane. */
export interface FaultContext {
  readonly clock: Clock;
  readonly random: () => Random;
  /** Forgets all history. */
  readonly compact: () => Promise<void>;
}

const WRITES = ["update", "patch", "delete"] as const;
const READS = ["get", "list"] as const;

/**
 * Has a control plane misbehave. Everything is by request: verb, resource, namespace, name, user or client; once, for a
 * while or with a probability. Loops of the server are clients like others, under the names of their users.
 */
export class Faults {
  readonly #context: FaultContext;
  #rules: Rule[] = [];
  readonly #watches = new Set<OpenWatch>();

  constructor(context: FaultContext) {
    this.#context = context;
  }

  /** Requests are refused: by default with 500 InternalError. */
  error(
    options: FaultOptions & {
      readonly code?: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    },
  ): Fault {
    const {
      code = 500,
      reason = reasonOf(code),
      message = "a fault that a test asked for",
      retryAfterSeconds,
    } = options;
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
    return this.#add(options, ["code", "reason", "message", "retryAfterSeconds"], { type: "error", error });
  }

  /** Writes are refused as if somebody else had been faster. */
  conflict(options: FaultOptions = {}): Fault {
    const error = ({ info }: Call) => conflict(info, info.name, MODIFIED);
    return this.#add({ verb: WRITES, ...options }, [], { type: "error", error });
  }

  /** Requests are answered late, by the control plane's clock. */
  latency(options: FaultOptions & { readonly by: Span }): Fault {
    return this.#add(options, ["by"], { type: "latency", ms: spanMs(options.by) });
  }

  /** Reads show the state of so many writes ago, as far as it is kept. */
  staleReads(options: FaultOptions & { readonly revisions: number }): Fault {
    return this.#add({ verb: READS, ...options }, ["revisions"], { type: "stale", revisions: options.revisions });
  }

  /** Watches do not show events. */
  dropEvents(options: EventFaultOptions = {}): Fault {
    return this.#add(options, ["event"], { type: "drop" });
  }

  /** Watches show events more than once: twice by default. */
  repeatEvents(options: EventFaultOptions & { readonly copies?: number } = {}): Fault {
    return this.#add(options, ["event", "copies"], { type: "repeat", copies: options.copies ?? 2 });
  }

  /** Watches show events late, by the control plane's clock, and what follows them, too. */
  delayEvents(options: EventFaultOptions & { readonly by: Span }): Fault {
    return this.#add(options, ["event", "by"], { type: "late", ms: spanMs(options.by) });
  }

  /**
   * Breaks the connections of watches. Without `afterEvents` those that are open now; with it, those that begin from now on,
   * each after so many events.
   */
  cutWatches(options: FaultOptions & { readonly afterEvents?: number } = {}): Fault {
    const { afterEvents } = options;
    const fault = this.#add(options, ["afterEvents"], {
      type: "cut",
      afterEvents: afterEvents ?? Number.POSITIVE_INFINITY,
    });
    if (afterEvents !== undefined) return fault;
    this.#end(options, fault, (watch) => watch.cut());
    return fault;
  }

  /** Ends the watches that are open now as if their history were gone: with an ERROR event, 410 Expired. */
  expireWatches(options: FaultOptions = {}): Fault {
    const fault = this.#add(options, [], { type: "cut", afterEvents: Number.POSITIVE_INFINITY });
    const { status } = expired("The resourceVersion for the provided watch is too old.");
    this.#end(options, fault, (watch) => watch.end({ type: "ERROR", status }));
    return fault;
  }

  /** Forgets all history: watches and lists of older states are answered 410 from now on. */
  compact(): Promise<void> {
    return this.#context.compact();
  }

  /** No fault happens any more. */
  clear(): void {
    for (const { limit } of this.#rules) limit.isRemoved = true;
    this.#rules = [];
  }

  /** Where faults happen: behind the stages that find out who is calling. */
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
      ({ effect, match, limit }) => effect.type === "cut" && isMeantStream(match, call) && limit.take(),
    );
    if (cut?.effect.type === "cut") watch.cutAfter(cut.effect.afterEvents);
    return { ...reply, events: watch.events(() => this.#watches.delete(watch)) };
  }

  /** What a watch shows instead of an event: it, nothing, or several of it; late where that takes time. */
  #change(call: Call, event: WatchEvent): WatchEvent[] | Promise<WatchEvent[]> {
    let shown = [event];
    let lateMs = 0;
    for (const { match, limit, effect } of this.#rules) {
      if (effect.type !== "drop" && effect.type !== "repeat" && effect.type !== "late") continue;
      const isKind = match.event === undefined ? event.type !== "BOOKMARK" : event.type === match.event;
      if (!isKind || !isMeantStream(match, call) || !isMeantEvent(match, event) || !limit.take()) continue;
      if (effect.type === "drop") shown = [];
      else if (effect.type === "repeat") shown = Array.from({ length: effect.copies }, () => event);
      else lateMs += effect.ms;
    }
    return lateMs === 0 ? shown : this.#context.clock.sleep(lateMs, call.signal).then(() => shown);
  }

  #happening(call: Call, types: readonly Effect["type"][]): Rule[] {
    this.#rules = this.#rules.filter(({ limit }) => !limit.isOver);
    return this.#rules.filter(
      ({ match, limit, effect }) => types.includes(effect.type) && isMeant(match, call) && limit.take(),
    );
  }

  #end(match: RequestMatch, fault: Fault, end: (watch: OpenWatch) => void): void {
    fault.remove();
    for (const watch of [...this.#watches]) {
      if (!isMeantStream(match, watch.call)) continue;
      (fault as { hits: number }).hits++;
      end(watch);
    }
  }

  #add(options: EventFaultOptions, further: readonly string[], effect: Effect): Fault {
    requireKnown(options, [...MATCH_MEMBERS, ...further]);
    const limit = new Limit(options, this.#context.clock, this.#context.random);
    this.#rules.push({ match: options, limit, effect });
    return {
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
