import type { Column } from "../../../../base/api/columns.ts";
import { ageOf } from "../../../../base/api/human-duration.ts";
import type { Json, JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { isSidecar } from "../../../types/container.ts";
import {
  AGE,
  column,
  findCondition,
  isConditionTrue,
  NAME,
  read,
  readNumber,
  readObjects,
  readText,
  text,
  wide,
} from "../../cells.ts";

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  readonly lastRestart: string;
}

/** The end of a terminated container: its reason, else the signal, else the exit code. */
function printEnd(terminated: Json | undefined): string {
  const reason = readText(terminated, ".reason");
  if (reason !== "") return reason;
  const signal = readNumber(terminated, ".signal");
  return signal === 0 ? `ExitCode:${readNumber(terminated, ".exitCode")}` : `Signal:${signal}`;
}

const later = (a: string, b: string): string => (Date.parse(b) > (Date.parse(a) || 0) ? b : a);

/** How often containers were restarted, and the time of the last restart. */
class Restarts {
  all = 0;
  last = "";

  add(status: JsonObject): void {
    this.all += readNumber(status, ".restartCount");
    this.last = later(this.last, readText(status, ".lastState.terminated.finishedAt"));
  }
}

interface InitPhase {
  /** What keeps the pod from starting; empty once all init containers are done. */
  readonly status: string;
  readonly ready: number;
  readonly all: Restarts;
  readonly sidecars: Restarts;
}

function readInitPhase(pod: KubeObject): InitPhase {
  const containers = readObjects(pod, ".spec.initContainers");
  const sidecarNames = new Set(containers.filter(isSidecar).map((container) => container.name));
  const all = new Restarts();
  const sidecars = new Restarts();
  let ready = 0;
  for (const [index, status] of readObjects(pod, ".status.initContainerStatuses").entries()) {
    const sidecar = sidecarNames.has(status.name);
    all.add(status);
    if (sidecar) sidecars.add(status);
    const terminated = read(status, ".state.terminated");
    if (terminated !== undefined && readNumber(terminated, ".exitCode") === 0) continue;
    if (sidecar && status.started === true) {
      if (status.ready === true) ready++;
      continue;
    }
    const waiting = readText(status, ".state.waiting.reason");
    const progress = waiting === "" || waiting === "PodInitializing" ? `${index}/${containers.length}` : waiting;
    return { status: `Init:${terminated === undefined ? progress : printEnd(terminated)}`, ready, all, sidecars };
  }
  return { status: "", ready, all, sidecars };
}

interface MainPhase {
  readonly status: string;
  readonly ready: number;
}

function readMainPhase(pod: KubeObject, status: string, restarts: Restarts): MainPhase {
  let reason = status;
  let failure = "";
  let ready = 0;
  let isRunning = false;
  // From last to first, so that the first container with a reason takes precedence.
  for (const container of readObjects(pod, ".status.containerStatuses").reverse()) {
    restarts.add(container);
    const waiting = readText(container, ".state.waiting.reason");
    const terminated = read(container, ".state.terminated");
    if (waiting !== "") reason = waiting;
    else if (terminated !== undefined) {
      reason = printEnd(terminated);
      if (readNumber(terminated, ".exitCode") !== 0) failure = reason;
    } else if (container.ready === true && read(container, ".state.running") !== undefined) {
      isRunning = true;
      ready++;
    }
  }
  if (reason !== "Completed") return { status: reason, ready };
  if (isRunning && isConditionTrue(pod, "Ready")) return { status: "Running", ready };
  return { status: failure || (isRunning ? "NotReady" : reason), ready };
}

function summarise(pod: KubeObject): PodSummary {
  const phase = readText(pod, ".status.phase");
  const reason = readText(pod, ".status.reason");
  const gated = findCondition(pod, "PodScheduled")?.reason === "SchedulingGated";
  const init = readInitPhase(pod);
  const total =
    readObjects(pod, ".spec.containers").length + readObjects(pod, ".spec.initContainers").filter(isSidecar).length;
  let status = init.status || (gated ? "SchedulingGated" : reason || phase);
  let ready = init.ready;
  let restarts = init.all;
  if (init.status === "" || isConditionTrue(pod, "Initialized")) {
    restarts = init.sidecars;
    const main = readMainPhase(pod, status, restarts);
    status = main.status;
    ready += main.ready;
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (reason === "NodeLost") status = "Unknown";
    else if (phase !== "Succeeded" && phase !== "Failed") status = "Terminating";
  }
  return { ready, total, status, restarts: restarts.all, lastRestart: restarts.last };
}

function printReadinessGates(pod: KubeObject): string {
  const gates = readObjects(pod, ".spec.readinessGates");
  if (gates.length === 0) return "<none>";
  const passed = gates.filter((gate) => isConditionTrue(pod, readText(gate, ".conditionType")));
  return `${passed.length}/${gates.length}`;
}

function printRestarts(pod: KubeObject, now: number): string {
  const { restarts, lastRestart } = summarise(pod);
  return restarts === 0 || lastRestart === "" ? `${restarts}` : `${restarts} (${ageOf(lastRestart, now)} ago)`;
}

function printReady(pod: KubeObject): string {
  const { ready, total } = summarise(pod);
  return `${ready}/${total}`;
}

/** The table columns of Pod. */
export const podColumns: readonly Column[] = [
  NAME,
  column("Ready", "string", printReady),
  column("Status", "string", (pod) => summarise(pod).status),
  column("Restarts", "string", printRestarts),
  AGE,
  wide("IP", "string", (pod) => readText(readObjects(pod, ".status.podIPs")[0], ".ip", "<none>")),
  wide("Node", "string", text(".spec.nodeName", "<none>")),
  wide("Nominated Node", "string", text(".status.nominatedNodeName", "<none>")),
  wide("Readiness Gates", "string", printReadinessGates),
];

/** The row condition Completed of pods with phase Succeeded or Failed. */
export function podRowConditions(pod: KubeObject): Json[] {
  const phase = readText(pod, ".status.phase");
  if (phase !== "Succeeded" && phase !== "Failed") return [];
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}
