import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { printMilliseconds } from "../../base/go/duration.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { LevelState, Levels } from "./levels.ts";
import { emptyQueue, type Ticket } from "./ticket.ts";

const FOLDER = "/debug/api_priority_and_fairness/";
/** Empty queues of a level are shown up to this number; it may have millions. */
const MAX_EMPTY_QUEUES = 1000;
const LEAST_WIDTH = 8;

const LEVEL_COLUMNS = [
  ...["PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests"],
  ...["DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"],
];
const QUEUE_COLUMNS = [
  ...["PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR"],
  ...["InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"],
];
// Compat: FlowDistingsher is spelled so upstream.
const REQUEST_COLUMNS = [
  ...["PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"],
  ...["InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"],
];
const DETAIL_COLUMNS = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];

type Row = readonly string[];

/** Serves the state of priority levels, queues and requests as text. Compat: `configController.Install`. */
export function fairnessDumps(levels: Levels, clock: Clock): (call: Call) => ApiReply | undefined {
  const tables: Readonly<Record<string, (call: Call) => readonly Row[]>> = {
    dump_priority_levels: () => [LEVEL_COLUMNS, ...sorted(levels).map(levelRow)],
    dump_queues: () => [QUEUE_COLUMNS, ...sorted(levels).flatMap(queueRows)],
    dump_requests: ({ request }) => {
      const hasDetails = (request.query.get("includeRequestDetails") ?? "") !== "";
      const rows = sorted(levels).flatMap((state) => requestRows(state, clock, hasDetails));
      return [hasDetails ? [...REQUEST_COLUMNS, ...DETAIL_COLUMNS] : REQUEST_COLUMNS, ...rows];
    },
  };
  return (call) => {
    const { path } = call.request;
    if (!path.startsWith(FOLDER)) return undefined;
    const name = path.slice(FOLDER.length);
    if (!Object.hasOwn(tables, name)) return undefined;
    const body = printTable(tables[name]?.(call) ?? []);
    return { type: "raw", code: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
  };
}

function sorted({ states }: Levels): readonly LevelState[] {
  return [...states.values()].sort((a, b) => (a.level.name < b.level.name ? -1 : 1));
}

function levelRow({ level, queues, isLeaving }: LevelState): Row {
  const { waiting, executing, totals } = queues;
  const active = queues.queues.filter((queue) => queue.waiting.size > 0).length;
  // Compat: TimedoutRequests is 0 upstream too; requests that waited too long are cancelled.
  const numbers = [waiting, executing, totals.dispatched, totals.rejected, 0, totals.cancelled];
  return [level.name, String(active), String(queues.isIdle), String(isLeaving), ...numbers.map(String)];
}

function queueRows({ level, queues }: LevelState): readonly Row[] {
  const used = new Map(queues.queues.map((queue) => [queue.index, queue]));
  const configured = level.response.type === "Queue" ? level.response.queues : 0;
  for (let index = 0; index < Math.min(configured, MAX_EMPTY_QUEUES); index++) {
    if (!used.has(index)) used.set(index, emptyQueue(index, 0));
  }
  return [...used]
    .sort(([a], [b]) => a - b)
    .map(([index, { waiting, executing, seatsInUse, nextR, waitingWork }]) => {
      let seats = 0;
      let maxSeats = 0;
      for (const ticket of waiting) {
        seats += ticket.seats;
        maxSeats += ticket.maxSeats;
      }
      const numbers = [index, waiting.size, executing.size, seatsInUse].map(String);
      return [level.name, ...numbers, seatSeconds(nextR), String(seats), String(maxSeats), seatSeconds(waitingWork)];
    });
}

function requestRows({ level, queues }: LevelState, clock: Clock, hasDetails: boolean): readonly Row[] {
  const rows: Row[] = [];
  const startMs = clock.now() - clock.monotonic();
  const timeOf = (ms: number | undefined) =>
    ms === undefined ? "0001-01-01T00:00:00Z" : new Date(startMs + ms).toISOString();
  const add = (ticket: Ticket, queue: number, place: number): void => {
    const { counts, distinguisher, arrivedMs, startedMs, seats, finalSeats, lingerMs, about } = ticket;
    const row = [level.name, counts.schema, String(queue), String(place), distinguisher, timeOf(arrivedMs)];
    row.push(String(seats), String(finalSeats), printMilliseconds(lingerMs), timeOf(startedMs));
    rows.push(hasDetails ? [...row, ...detailsOf(about)] : row);
  };
  for (const { index, waiting, executing } of queues.queues) {
    for (const [place, ticket] of [...waiting].entries()) add(ticket, index, place);
    for (const ticket of executing) add(ticket, index, -1);
  }
  for (const ticket of queues.unqueued) add(ticket, -1, -1);
  return rows;
}

function detailsOf({ user, info }: Pick<Call, "user" | "info">): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info;
  return [
    user.name,
    verb,
    path,
    namespace,
    name,
    group === "" ? version : `${group}/${version}`,
    resource,
    subresource,
  ];
}

function seatSeconds(value: number): string {
  return `${value.toFixed(8)}ss`;
}

/** Aligns columns like Go's tabwriter with a minimum width of 8 and a padding of 1. */
function printTable(rows: readonly Row[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? LEAST_WIDTH, cell.length + 2);
    }
  }
  return rows
    .map((row) => {
      const last = row.length - 1;
      return `${row.map((cell, index) => (index === last ? cell : `${cell},`.padEnd(widths[index] ?? 0))).join("")}\n`;
    })
    .join("");
}
