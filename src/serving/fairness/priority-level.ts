import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { LimitResponse } from "./queue-set.ts";

/** A PriorityLevelConfiguration, prepared for use. */
export interface PriorityLevel {
  readonly name: string;
  /** Empty if there is no such object, only the built-in one. */
  readonly uid: string;
  readonly shares: number;
  /** The part of its seats that other levels may use, in percent. */
  readonly lendablePercent: number;
  /** How much it may borrow, in percent of its seats. Undefined: no limit. */
  readonly borrowingLimitPercent: number | undefined;
  readonly response: LimitResponse;
}

/** The number of seats that a level has, and between which limits it varies. */
export interface SeatLimits {
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
}

const MAX_SEATS_FRACTION = 0.15;

/** Prepares a valid PriorityLevelConfiguration. Returns undefined if its parts contradict each other. */
export function readPriorityLevel({ metadata, spec }: KubeObject, exempt: string): PriorityLevel | undefined {
  const name = metadata.name ?? "";
  const { type, limited, exempt: unlimited } = isObject(spec) ? spec : {};
  const limits = type === "Exempt" ? unlimited : limited;
  if ((type === "Exempt") !== (name === exempt) || !isObject(limits)) return undefined;
  const response: LimitResponse | undefined =
    type === "Exempt" ? { type: "Exempt" } : readResponse(limits.limitResponse);
  if (response === undefined) return undefined;
  const borrowing = limits.borrowingLimitPercent;
  return {
    name,
    uid: metadata.uid ?? "",
    shares: numberOf(limits, "nominalConcurrencyShares"),
    lendablePercent: numberOf(limits, "lendablePercent"),
    borrowingLimitPercent: typeof borrowing === "number" ? borrowing : undefined,
    response,
  };
}

function readResponse(value: Json | undefined): LimitResponse | undefined {
  if (!isObject(value)) return undefined;
  if (value.type === "Reject") return { type: "Reject" };
  const { queuing } = value;
  if (!isObject(queuing)) return undefined;
  return {
    type: "Queue",
    queues: numberOf(queuing, "queues"),
    handSize: numberOf(queuing, "handSize"),
    queueLengthLimit: numberOf(queuing, "queueLengthLimit"),
  };
}

function numberOf(object: JsonObject, member: string): number {
  const value = object[member];
  return typeof value === "number" ? value : 0;
}

/** The limits of a level, if all levels together have `shareSum` shares of `total` seats. Compat: finishQueueSetReconfigs. */
export function seatLimits(level: PriorityLevel, total: number, shareSum: number): SeatLimits {
  const nominal = shareSum === 0 ? 0 : Math.ceil((total * level.shares) / shareSum);
  const { lendablePercent, borrowingLimitPercent } = level;
  const borrowable = borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100);
  return { nominal, lower: nominal - Math.round((nominal * lendablePercent) / 100), upper: nominal + borrowable };
}

/** The most seats that one request of a level may take. Undefined: as many as any request. */
export function maxSeatsOf({ response }: PriorityLevel, nominal: number): number | undefined {
  if (response.type !== "Queue") return undefined;
  const part = Math.ceil(nominal * MAX_SEATS_FRACTION);
  return Math.max(1, Math.min(part, Math.floor(nominal / response.handSize)));
}
