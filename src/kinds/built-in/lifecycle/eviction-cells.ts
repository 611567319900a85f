import type { Column } from "../../../base/api/columns.ts";
import { ageOf, humanDuration } from "../../../base/api/human-duration.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import {
  AGE,
  type Cell,
  column,
  findCondition,
  isConditionTrue,
  NAME,
  printFirst,
  read,
  readNumber,
  readObjects,
  readText,
  text,
  wide,
} from "../cells.ts";

function printStatus(object: KubeObject): string {
  for (const type of ["TargetEvicted", "Failed"]) {
    if (isConditionTrue(object, type)) return `${type} (${readText(findCondition(object, type), ".reason")})`;
  }
  return readNumber(object, ".status.observedGeneration") > 0 ? "Progressing" : "Pending";
}

const shared: readonly Column[] = [
  NAME,
  column("Target", "string", text(".spec.target.pod.name", "<unset>")),
  column("Target Type", "string", (object) => (read(object, ".spec.target.pod") === undefined ? "<unset>" : "Pod")),
  column("Status", "string", printStatus),
];

/** The table columns of EvictionRequest. */
export const evictionRequestColumns: readonly Column[] = [
  ...shared,
  column("Requester", "string", text(".spec.requester")),
  column("Intent", "string", text(".spec.intent")),
  AGE,
];

const ENDED = new Set(["Canceled", "Interrupted", "Completed"]);

interface Progress {
  readonly begun: number;
  readonly total: number;
  /** The active responder, else the last one that has finished. */
  readonly current: JsonObject | undefined;
  /** The status reported by that responder. */
  readonly report: JsonObject | undefined;
}

function readProgress(eviction: KubeObject): Progress {
  const targets = readObjects(eviction, ".status.targetResponders");
  const active = targets.filter((target) => target.state === "Active");
  const ended = targets.filter((target) => ENDED.has(readText(target, ".state")));
  const current = active.at(-1) ?? ended.at(-1);
  const report =
    current && readObjects(eviction, ".status.responders").find((responder) => responder.name === current.name);
  return { begun: active.length + ended.length, total: targets.length, current, report };
}

function printActive(eviction: KubeObject): string {
  const { begun, total, current } = readProgress(eviction);
  return `${readText(current, ".name", "<unset>")} (${begun}/${total})`;
}

function printResponderStatus(eviction: KubeObject, now: number): string {
  const { current, report } = readProgress(eviction);
  if (report === undefined) return "<unset>";
  const state = readText(current, ".state");
  if (state === "Active" && read(report, ".startTime") !== undefined) {
    return `Started (${ageOf(report.startTime, now)} ago)`;
  }
  if (state === "Completed" && read(report, ".completionTime") !== undefined) {
    return `${state} (${ageOf(report.completionTime, now)} ago)`;
  }
  return state;
}

function printExpectedFinish(eviction: KubeObject, now: number): string {
  const { current, report } = readProgress(eviction);
  if (report === undefined) return "<unknown>";
  if (current?.state !== "Active") return "-";
  const expected = Date.parse(readText(report, ".expectedCompletionTime"));
  if (Number.isNaN(expected) || read(report, ".startTime") === undefined) return "<unknown>";
  return expected > now ? `in ${humanDuration(expected - now)}` : `${humanDuration(now - expected)} ago`;
}

function printRequesters(eviction: KubeObject): string {
  const requesters = readObjects(eviction, ".status.requesters");
  const names = requesters.filter((one) => one.intent !== "Withdrawn").map((one) => readText(one, ".name"));
  if (names.length > 0) return printFirst(names.sort(), 1);
  return requesters.length > 0 ? "<withdrawn>" : "<none>";
}

const heartbeat: Cell = (eviction, now) => {
  const time = read(readProgress(eviction).report, ".heartbeatTime");
  return time === undefined ? "<unset>" : `${ageOf(time, now)} ago`;
};

/** The table columns of Eviction of lifecycle.k8s.io. */
export const evictionColumns: readonly Column[] = [
  ...shared,
  column("Active Responder", "string", printActive),
  column("Responder Status", "string", printResponderStatus),
  column("Responder Expected Finish", "string", printExpectedFinish),
  column("Requesters", "string", printRequesters),
  AGE,
  wide("Responder Heartbeat", "string", heartbeat),
  wide("Responder Status Message", "string", (eviction) => {
    return readText(readProgress(eviction).report, ".message").trim() || "<unset>";
  }),
];
