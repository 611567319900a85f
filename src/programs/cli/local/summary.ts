import { RUNNABLE_CONTROLLERS } from "../../../cluster/controllers/manager/all.ts";
import { MANAGER_CONTROLLERS } from "../../../cluster/controllers/manager/manager-controllers.ts";
import { selectControllers } from "../../../cluster/controllers/shared/controller.ts";

/** What a control plane does on its own, and what users of clusters may miss. */
export interface Activity {
  /** The controllers of kube-controller-manager that run. */
  readonly runs: readonly string[];
  /** What does not happen, in sentences. */
  readonly missing: readonly string[];
}

/** What acts on the objects of a server. */
export interface Actors {
  /** The value of `--controllers`. */
  readonly controllers: string;
  readonly scheduler?: boolean;
  readonly simulatedNodes?: number;
}

/** What such a server does. */
export function activityOf({ controllers, scheduler = false, simulatedNodes = 0 }: Actors): Activity {
  const runs = selectControllers(RUNNABLE_CONTROLLERS, controllers).map(({ name }) => name);
  const missing = MANAGER_CONTROLLERS.flatMap(({ name, without }) =>
    without === undefined || runs.includes(name) ? [] : [without],
  );
  return { runs, missing: [withoutContainers(scheduler, simulatedNodes > 0), ...missing] };
}

function withoutContainers(hasScheduler: boolean, hasNodes: boolean): string {
  if (hasScheduler && hasNodes) return "nodes are simulated: Pods report that they run, but there are no containers";
  if (hasScheduler) return "no kubelet: Pods stay Pending";
  return hasNodes
    ? "no scheduler: Pods without spec.nodeName stay Pending"
    : "no scheduler or kubelet: Pods stay Pending";
}

const WIDTH = 110;
const INDENT = " ".repeat(14);
/** Lines of limits. `binnacle controllers` lists the rest. */
const MAX_LIMITS = 3;

/** The same as text. */
export function describeActivity(actors: Actors): string {
  const { scheduler = false, simulatedNodes = 0 } = actors;
  const { runs, missing } = activityOf(actors);
  const limits = wrap(together(missing), "; ");
  const cluster = [
    ...(scheduler ? ["scheduler"] : []),
    ...(simulatedNodes > 0 ? [`${simulatedNodes} simulated node${simulatedNodes === 1 ? "" : "s"}`] : []),
  ];
  return [
    `Controllers:  ${describeRuns(runs).join(`\n${INDENT}`)}`,
    ...(cluster.length > 0 ? [`Cluster:      ${cluster.join(", ")}`] : []),
    `Limits:       ${limits.slice(0, MAX_LIMITS).join(`\n${INDENT}`)}`,
    `${INDENT}${limits.length > MAX_LIMITS ? "More limits, and all controllers" : "All controllers"}: binnacle controllers`,
  ].join("\n");
}

function describeRuns(runs: readonly string[]): string[] {
  if (runs.length === 0) return ["none"];
  if (runs.length === selectControllers(RUNNABLE_CONTROLLERS, "*").length) return ["all that the server has"];
  const shown = runs.map((name) => name.replace(/-controller$/, ""));
  return wrap(shown, ", ");
}

/** Combines sentences with the same predicate, such as "Jobs create no Pods" and "ReplicaSets create no Pods". */
export function together(sentences: readonly string[]): string[] {
  const subjects = new Map<string, string[]>();
  for (const sentence of sentences) {
    const [, subject = "", predicate = sentence] = /^(\w+(?: \w+)?) ((?:create|keep) .*)$/.exec(sentence) ?? [];
    subjects.set(predicate, [...(subjects.get(predicate) ?? []), subject]);
  }
  return [...subjects].map(([predicate, some]) => `${listed(some)} ${predicate}`.trimStart());
}

/** "a, b and c". Intl.ListFormat does the same, but takes 16 ms to load, which `up` would wait for. */
function listed(items: readonly string[]): string {
  const [last = "", ...before] = items.toReversed();
  return before.length === 0 ? last : `${before.toReversed().join(", ")} and ${last}`;
}

/** Wraps items into lines below each other. */
function wrap(items: readonly string[], separator: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const [at, item] of items.entries()) {
    const part = at === items.length - 1 ? item : `${item}${separator}`;
    if (line !== "" && INDENT.length + line.length + part.length > WIDTH) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += part;
  }
  return [...lines, line];
}
