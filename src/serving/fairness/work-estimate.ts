import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Work } from "./ticket.ts";

/** What a list reads: the number of objects, and their average size in bytes. */
export interface ObjectStatistics {
  readonly count: number;
  readonly bytesEach: number;
}

/** Facts from which the work of a request is estimated. */
export interface WorkFacts {
  /** Undefined if the objects are not stored here. */
  objectsOf(info: RequestInfo): ObjectStatistics | undefined;
  /** How many watches get an event of this write. */
  watchersOf(info: RequestInfo, name: string): number;
}

/** The seats of a level that limit how wide a request may be. */
export interface WidthLimits {
  /** Undefined: as wide as any request. */
  readonly maxSeats: number | undefined;
  readonly nominal: number;
}

const LIST_SEATS = 100;
const WRITE_SEATS = 10;
const BYTES_PER_SEAT = 100_000;
/** Compat: cacheWithStreamingMaxMemoryUsage. Upstream, a longer list is not wider, because it is streamed. */
const STREAMED_BYTES = 1_000_000;
const WATCHERS_PER_SEAT = 10;
const EVENT_MS = 5;
/** The work of most requests. */
export const ONE_SEAT: Work = { seats: 1, finalSeats: 0, lingerMs: 0 };
const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/**
 * Estimates the work of a request. `name`: of the path, or of a field selector. `watcherSamples` gets the watchers of writes. Compat: `NewWorkEstimator`. Differs: a list of
 * more than 1 MB takes more seats the more bytes it writes, up to half of those of its level, because it uses the only
 * thread (kubernetes/kubernetes#132233).
 */
export function estimateWork(
  facts: WorkFacts,
  { info, query, name }: { readonly info: RequestInfo; readonly query: URLSearchParams; readonly name: string },
  limits: WidthLimits,
  watcherSamples: { observe(watchers: number): void },
): Work {
  const { verb } = info;
  if (verb === "list" || (verb === "watch" && hasInitialEvents(query))) {
    const seats = listSeats(facts.objectsOf(info), name, query, limits);
    return seats === 1 ? ONE_SEAT : { seats, finalSeats: 0, lingerMs: 0 };
  }
  if (!WRITES.has(verb)) return ONE_SEAT;
  const watchers = facts.watchersOf(info, name);
  watcherSamples.observe(watchers);
  if (watchers < WATCHERS_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(watchers / WATCHERS_PER_SEAT);
  const finalSeats = Math.min(wanted, limits.maxSeats ?? WRITE_SEATS, WRITE_SEATS);
  return { seats: 1, finalSeats, lingerMs: (wanted * EVENT_MS) / finalSeats };
}

function listSeats(
  objects: ObjectStatistics | undefined,
  name: string,
  query: URLSearchParams,
  { maxSeats, nominal }: WidthLimits,
): number {
  if (objects === undefined) return 1;
  const limit = query.size === 0 ? 0 : Number(query.get("limit"));
  const count = name !== "" ? 1 : limit > 0 ? Math.min(limit, objects.count) : objects.count;
  const bytes = count * objects.bytesEach;
  const usual = Math.min(maxSeats ?? LIST_SEATS, LIST_SEATS);
  const most = bytes > STREAMED_BYTES ? Math.max(usual, Math.floor((nominal - 1) / 2)) : usual;
  return Math.max(1, Math.min(Math.ceil(bytes / BYTES_PER_SEAT), most));
}

/** Whether a watch begins with the objects that exist. */
function hasInitialEvents(query: URLSearchParams): boolean {
  const version = query.get("resourceVersion") ?? "";
  return version === "" || version === "0" || query.get("sendInitialEvents") === "true";
}
