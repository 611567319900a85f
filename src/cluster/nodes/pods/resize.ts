import { isDeepStrictEqual } from "node:util";
import type { Container, ResourceRequirements } from "../../../kinds/types/container.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { Shortage } from "../node-resources.ts";
import type { ContainerRunner } from "./container-runner.ts";
import { graceMs, isRunning, type PodContainer } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";

/** Why a resize has to wait. */
export interface PendingResize {
  readonly reason: string;
  readonly message: string;
}

/** When a resize that has to wait is tried again. Upstream: the ticker of the allocation manager */
const RETRY_MS = 180_000;

/** Gives running containers the resources of their spec, if the node has them. Returns why it does not. */
export function resizeContainers(
  turn: PodTurn,
  runner: ContainerRunner,
  node: { shortage(pod: Pod): Shortage | undefined },
): PendingResize | undefined {
  const changed = turn.of("main", "sidecar").filter((one) => isResized(turn, one));
  if (changed.length === 0) return undefined;
  const shortage = node.shortage(turn.pod);
  if (shortage) {
    const pending = { reason: "Deferred", message: shortage.message };
    turn.wakeAt(turn.nowMs + RETRY_MS);
    if (isNew(turn.pod)) turn.record("Warning", "ResizeDeferred", summary(turn.pod, "Pod resize Deferred", shortage));
    return pending;
  }
  turn.record("Normal", "ResizeStarted", summary(turn.pod, "Pod resize started"));
  for (const one of changed) resize(turn, runner, one);
  turn.record("Normal", "ResizeCompleted", summary(turn.pod, "Pod resize completed"));
  return undefined;
}

function isResized(turn: PodTurn, one: PodContainer): boolean {
  const status = turn.status(one);
  const { resources = {} } = one.container;
  return isRunning(status) && status?.resources !== undefined && !isDeepStrictEqual(status.resources, resources);
}

function resize(turn: PodTurn, runner: ContainerRunner, one: PodContainer): void {
  const status = turn.status(one) ?? {};
  const { resources = {} } = one.container;
  const { allocatedResources: _, ...rest } = status;
  turn.set(one, { ...rest, resources, ...(resources.requests && { allocatedResources: resources.requests }) });
  if (!needsRestart(one.container, status.resources ?? {}, resources)) return;
  runner.kill(turn, one, graceMs(turn.pod), `Container ${one.name} resize requires restart`);
  if (!isRunning(turn.status(one))) runner.start(turn, one);
}

/** Whether the policy of a resource that has changed asks for a restart. */
function needsRestart(
  { resizePolicy = [] }: Container,
  before: ResourceRequirements,
  after: ResourceRequirements,
): boolean {
  return resizePolicy.some(
    ({ resourceName = "", restartPolicy }) =>
      restartPolicy === "RestartContainer" &&
      (before.requests?.[resourceName] !== after.requests?.[resourceName] ||
        before.limits?.[resourceName] !== after.limits?.[resourceName]),
  );
}

/** Whether the spec has changed since the resize was found to be pending. */
function isNew({ metadata, status }: Pod): boolean {
  const known = status?.conditions?.find(({ type }) => type === "PodResizePending");
  return known?.observedGeneration !== metadata.generation;
}

/** Upstream: podResizeMessage */
function summary({ spec = {}, metadata: { generation } }: Pod, text: string, shortage?: Shortage): string {
  const of = (containers: readonly Container[] = []) =>
    containers.map(({ name, resources = {} }) => ({ name, resources }));
  const { initContainers = [], containers = [] } = spec;
  return `${text}: ${JSON.stringify({
    ...(initContainers.length > 0 && { initContainers: of(initContainers) }),
    containers: of(containers),
    generation,
    ...(shortage && { error: shortage.message }),
  })}`;
}
