import type { Call } from "../api/call.ts";
import type { WatchEvent } from "../api/reply.ts";
import { headerOf } from "../encoding/reply/encoded-reply.ts";
import type { Clock } from "../lib/clock.ts";
import type { Random } from "../lib/random.ts";
import { type Span, spanMs } from "./clock.ts";

/** Which requests are meant. What is left out does not matter. */
export interface RequestMatch {
  /** get, list, watch, create, update, patch, delete or deletecollection; or several of them. */
  readonly verb?: string | readonly string[];
  /** The plural, with or without its group: `deployments`, or `deployments.apps`. */
  readonly resource?: string;
  /** `""`: only the object itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The name of the user. */
  readonly user?: string;
  /** A part of the User-Agent. */
  readonly client?: string;
}

/** How long a fault lasts. What is left out does not limit it. */
export interface FaultLimits {
  /** So many times. */
  readonly times?: number;
  /** For so long, by the control plane's clock. */
  readonly for?: Span;
  /** From 0 to 1, by the control plane's seed. */
  readonly probability?: number;
}

/** Throws when a match has members that no request could have, such as misspelt ones. */
export function requireKnown(given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    throw new TypeError(`a fault has no ${JSON.stringify(name)}; it may have ${known.join(", ")}`);
  }
}

/** The members of a RequestMatch and of FaultLimits. */
export const MATCH_MEMBERS: readonly string[] = [
  ...["verb", "resource", "subresource", "namespace", "name", "user", "client"],
  ...["times", "for", "probability"],
];

/** Whether a request is one of those that are meant; the object's name counts only if it stands in the path. */
export function isMeant(match: RequestMatch, call: Call): boolean {
  return (
    isMeantStream(match, call) && isOneOf(match.namespace, call.info.namespace) && isOneOf(match.name, call.info.name)
  );
}

/** The same, whichever objects it is about: those of a watch are known one by one. */
export function isMeantStream(match: RequestMatch, { info, user, request }: Call): boolean {
  const { verb, resource, client = "" } = match;
  return (
    info.isResource &&
    (verb === undefined || (typeof verb === "string" ? [verb] : verb).includes(info.verb)) &&
    (resource === undefined || resource === info.resource || resource === `${info.resource}.${info.group}`) &&
    isOneOf(match.subresource, info.subresource) &&
    isOneOf(match.user, user.name) &&
    (headerOf(request.headers, "user-agent") ?? "").includes(client)
  );
}

/** Whether an event is about an object that is meant. */
export function isMeantEvent({ namespace, name }: RequestMatch, event: WatchEvent): boolean {
  if (event.type === "ERROR") return false;
  const { metadata } = event.view.object;
  return isOneOf(namespace, metadata.namespace ?? "") && isOneOf(name, metadata.name ?? "");
}

const isOneOf = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;

/** Counts how often something may still happen. */
export class Limit {
  readonly #limits: FaultLimits;
  readonly #clock: Clock;
  readonly #random: () => Random;
  readonly #endMs: number;
  hits = 0;
  isRemoved = false;

  constructor(limits: FaultLimits, clock: Clock, random: () => Random) {
    this.#limits = limits;
    this.#clock = clock;
    this.#random = random;
    this.#endMs = limits.for === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + spanMs(limits.for);
  }

  get isOver(): boolean {
    const { times = Number.POSITIVE_INFINITY } = this.#limits;
    return this.isRemoved || this.hits >= times || this.#clock.monotonic() >= this.#endMs;
  }

  /** Whether it happens this time; counts it then. */
  take(): boolean {
    const { probability = 1 } = this.#limits;
    if (this.isOver || (probability < 1 && this.#random().fraction() >= probability)) return false;
    this.hits++;
    return true;
  }
}
