import type { EventLog } from "./event-log.ts";
import type { EventIndex, EventTerm, WatchBatch } from "./store.ts";
import { TermLogs } from "./term-logs.ts";

/** The events of one watched prefix, or those of them with one term, shared by all their watchers. */
export interface WatchLog {
  readonly prefix: string;
  /** Of the log of a term: the log of the whole prefix, and the term. */
  readonly part?: { readonly whole: WatchLog; readonly index: EventIndex; readonly term: EventTerm };
  /** Of the log of a whole prefix: the logs of terms. */
  readonly parts: TermLogs<WatchLog>;
  events: EventLog;
  /** Holds every event of the log after this revision, except compacted ones. */
  start: number;
  /** Revision of the newest event that was compacted. */
  droppedRevision: number;
  /** Includes those of the parts. */
  watchers: number;
  readonly waiting: Set<{ wake(): void }>;
  isDirty: boolean;
  /** The latest batch read, shared by all watchers at the same position. */
  latest: { readonly cursor: number; readonly batch: WatchBatch } | undefined;
}

/** A log without watchers. `part`: of the log of a term. */
export function newLog(prefix: string, events: EventLog, start: number, part?: WatchLog["part"]): WatchLog {
  return {
    prefix,
    part,
    parts: part === undefined ? new TermLogs() : NO_PARTS,
    events,
    start,
    droppedRevision: 0,
    watchers: 0,
    waiting: new Set(),
    isDirty: false,
    latest: undefined,
  };
}

const NO_PARTS = new TermLogs<WatchLog>();

/** Watchers keep a reference to their log, so a log that has to reach further back is refilled in place. */
export function refill(log: WatchLog | undefined, events: EventLog, start: number): WatchLog | undefined {
  return log && Object.assign(log, { events, start, latest: undefined });
}
