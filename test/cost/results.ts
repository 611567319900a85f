import { type Case, caseName } from "./cases.ts";
import { placeName } from "./places.ts";
import type { Cost } from "./server.ts";

/**
 * Identifies a request across runs: kind, place, growth, size, way, encoding, and how it is read; or the name of one
 * that enlarges no place.
 */
export type CaseKey = readonly [
  kind: string,
  place: string,
  growth: string,
  size: number,
  way: string,
  form: string,
  read?: string,
];

/** The cost of one request. */
export interface CostResult {
  readonly key: CaseKey;
  readonly status: number;
  readonly ms: number;
  readonly processorMs: number;
  /** Undefined if an earlier run did not measure it. */
  readonly loopMs?: number;
  /** Undefined without a probe. */
  readonly stallMs?: number;
  readonly grownBytes: number;
  readonly bodyBytes: number;
  /** The start of the response if it failed with 500, or the error. */
  readonly text?: string;
}

/** The key of a case. */
export function keyOf({ place, growth, size, way, form }: Case, read?: string): CaseKey {
  const key = [place.kind.name, placeName(place), growth.name, size, way, form] as const;
  return read === undefined ? key : [...key, read];
}

/** A case, or a read of its object, as text. */
export const nameOf = (one: Case, read?: string): string => caseName(one) + (read === undefined ? "" : `, ${read}`);

/**
 * Compat: these are 500 upstream: a resourceVersion in a create, duplicates and unknown fields in an apply, requests
 * too large for etcd, errors of ValidatePodBinding, shard selectors, and names of RuntimeClasses that client-go
 * rejects.
 */
const UPSTREAM_500 =
  /failed to create typed patch object|resourceVersion should not be set on objects to be created|request is too large|"message":"invalid (?:resource name|shard selector)|"message":"\[?target\.(name|kind): /;

/** Whether a request made the server fail, or was not answered. */
export const isFailure = ({ status, text }: Pick<CostResult, "status" | "text">): boolean =>
  status === 0 || (status === 500 && !UPSTREAM_500.test(text ?? ""));

/** The result of a measurement. */
export function resultOf(key: CaseKey, cost: Cost, bodyBytes: number): CostResult {
  const { status, ms, processorMs, loopMs, stallMs, grownBytes, text } = cost;
  const rounded = (figure: number) => Math.round(figure * 10) / 10;
  const figures = { key, status, ms: Math.round(ms), processorMs: rounded(processorMs), loopMs: rounded(loopMs) };
  const seen = stallMs === undefined ? {} : { stallMs: Math.round(stallMs) };
  const failed = status === 0 || status === 500 ? { text: text.slice(0, 500) } : {};
  return { ...figures, ...seen, grownBytes, bodyBytes, ...failed };
}

/**
 * How long a request can have blocked the event loop: as long as another connection waited, but at most the CPU time of
 * the event loop thread meanwhile. Other load on the machine only makes stalls longer.
 */
export const heldMs = ({ stallMs, ms, processorMs, loopMs }: CostResult): number =>
  Math.min(stallMs ?? ms, loopMs ?? processorMs);

/** Limit for blocking the event loop. A request above it is repeated, and the minimum counts. */
export const MOST_HELD_MS = 100;

const MB = 1_000_000;

/** A result as one line. */
export function printCost({
  key,
  status,
  ms,
  processorMs,
  loopMs,
  stallMs,
  grownBytes,
  bodyBytes,
}: CostResult): string {
  const figure = (value: number | undefined) => (value === undefined ? "–" : String(Math.round(value))).padStart(6);
  const memory = `+${Math.round(grownBytes / MB)} MB for ${(bodyBytes / MB).toFixed(1)} MB`;
  return `${figure(processorMs)} ms processor ${figure(loopMs)} ms loop ${figure(stallMs)} ms stall ${figure(ms)} ms answer  ${status || "none"}  ${memory}  ${printKey(key)}`;
}

/** A key as text. */
export function printKey([kind, place, growth, size, way, form, read]: CaseKey): string {
  return [`${kind} ${place}: ${growth}`, ...(size ? [`${size} bytes`] : []), way, form, ...(read ? [read] : [])].join(
    ", ",
  );
}

/** Memory that the young generation and the garbage collector use in any case. */
const MEMORY_NOISE = 48 * MB;

/** Whether memory grew by more than ten times the body, and by more than the noise. */
export const isGrown = ({ grownBytes, bodyBytes }: CostResult): boolean =>
  grownBytes > 10 * bodyBytes && grownBytes > MEMORY_NOISE;
