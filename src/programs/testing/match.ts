import type { Call } from "../../base/api/call.ts";
import type { WatchEvent } from "../../base/api/reply.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Random } from "../../base/util/random.ts";
import { suggestion } from "../../base/util/suggestion.ts";
import { headerOf } from "../../data/encoding/reply/encoded-reply.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import { type Span, spanMs } from "./clock.ts";

/** Selects requests. Omitted members match everything. */
export interface RequestMatch {
  /** get, list, watch, create, update, patch, delete or deletecollection; or a list of them. */
  readonly verb?: string | readonly string[];
  /** The plural, with or without its group: `deployments`, or `deployments.apps`. */
  readonly resource?: string;
  /** `""` matches only the object itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The name of the user. */
  readonly user?: string;
  /** A substring of the User-Agent. */
  readonly client?: string;
}

/** Limits of a fault. Omitted members do not limit it. */
export interface FaultLimits {
  /** Maximum number of occurrences. */
  readonly times?: number;
  /** Duration, by the control plane's clock. */
  readonly for?: Span;
  /** From 0 to 1, drawn with the control plane's seed. */
  readonly probability?: number;
}

/** The members of a RequestMatch and of FaultLimits. */
const MATCH_MEMBERS: readonly string[] = [
  ...["verb", "resource", "subresource", "namespace", "name", "user", "client"],
  ...["times", "for", "probability"],
];
const VERBS: readonly string[] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const EVENTS: readonly string[] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"];

/**
 * Throws TypeError if options of a fault cannot match anything, because of a misspelt member, verb, event or resource.
 * `further` are members besides those of RequestMatch and FaultLimits, `served` the resources as faults name them.
 */
export function requireKnown(
  given: RequestMatch & { readonly event?: string },
  further: readonly string[],
  served: readonly string[],
): void {
  const { verb = [], resource, event } = given;
  requireNames("fault option", Object.keys(given), [...MATCH_MEMBERS, ...further]);
  requireNames("verb", typeof verb === "string" ? [verb] : verb, VERBS);
  if (event !== undefined) requireNames("event", [event], EVENTS);
  if (resource === undefined || served.includes(resource)) return;
  const hint = suggestion(resource, served) || "; if it is custom, apply its CustomResourceDefinition first";
  throw new TypeError(`resource ${JSON.stringify(resource)} is not served${hint}`);
}

function requireNames(what: string, given: readonly string[], known: readonly string[]): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const hint = suggestion(name, known) || `; known: ${known.join(", ")}`;
    throw new TypeError(`unknown ${what} ${JSON.stringify(name)}${hint}`);
  }
}

/** The names of served resources in a RequestMatch: plurals, with and without their group. */
export function resourceNames(catalog: Catalog): string[] {
  const names = catalog.definitions.flatMap(({ plural, group }) =>
    group === "" ? [plural] : [plural, `${plural}.${group}`],
  );
  return [...new Set(names)];
}

/** Whether a request matches. The object's name and namespace only match if they are in the path. */
export function matchesCall(match: RequestMatch, call: Call): boolean {
  return (
    matchesStream(match, call) && isOneOf(match.namespace, call.info.namespace) && isOneOf(match.name, call.info.name)
  );
}

/** Like `matchesCall`, for any object: the objects of a watch are matched event by event. */
export function matchesStream(match: RequestMatch, { info, user, request }: Call): boolean {
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

/** Whether an event is about a matching object. */
export function matchesEvent({ namespace, name }: RequestMatch, event: WatchEvent): boolean {
  if (event.type === "ERROR") return false;
  const { metadata } = event.view.object;
  return isOneOf(namespace, metadata.namespace ?? "") && isOneOf(name, metadata.name ?? "");
}

const isOneOf = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;

/** Counts the occurrences of a fault and decides whether it may occur again. */
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

  /** Whether the fault occurs this time. Counts it if so. */
  take(): boolean {
    const { probability = 1 } = this.#limits;
    if (this.isOver || (probability < 1 && this.#random().fraction() >= probability)) return false;
    this.hits++;
    return true;
  }
}
