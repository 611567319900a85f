import { createHash } from "node:crypto";
import type { Container } from "../../../kinds/types/container.ts";
import type { ContainerStatus, VolumeMountStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { Exit, Health } from "../behaviour/behaviour.ts";
import { isReset, type PodContainer } from "./containers.ts";

const RUNTIME = "simulated://";

const imageIds = new Map<string, string>();

/** The digest of an image follows from its name. */
function imageId(image: string): string {
  const known = imageIds.get(image);
  if (known) return known;
  const digest = createHash("sha256").update(image).digest("hex");
  const [name = ""] = image.split("@");
  // A colon before the last slash belongs to the port of the registry.
  const tag = name.indexOf(":", name.lastIndexOf("/"));
  const id = `${tag < 0 ? name : name.slice(0, tag)}@sha256:${digest}`;
  if (imageIds.size >= 1000) imageIds.clear();
  imageIds.set(image, id);
  return id;
}

function containerId({ metadata: { uid } }: Pod, name: string, restartCount: number): string {
  return RUNTIME + createHash("sha256").update(`${uid}/${name}/${restartCount}`).digest("hex");
}

/** A container that has not been started. */
export function waitingStatus(
  { container, name, role }: PodContainer,
  before: ContainerStatus | undefined,
  waiting: { reason: string; message?: string },
): ContainerStatus {
  const { image = "" } = container;
  const { restartCount = 0, state, lastState = {}, containerID, imageID = "", volumeMounts } = before ?? {};
  const mounts = volumeMounts ?? mountStatuses(container);
  const last = state?.terminated ? { terminated: state.terminated } : lastState;
  return {
    name,
    state: { waiting },
    lastState: last,
    ready: false,
    restartCount,
    image,
    imageID,
    ...(containerID !== undefined && { containerID }),
    ...(role !== "ephemeral" && { started: false }),
    ...(before?.resources && { resources: before.resources }),
    ...(before?.allocatedResources && { allocatedResources: before.allocatedResources }),
    ...(mounts.length > 0 && { volumeMounts: mounts }),
  };
}

/** A container that starts now. A container that has run before is restarted. */
export function startedStatus(
  pod: Pod,
  { container, name }: PodContainer,
  before: ContainerStatus | undefined,
  nowMs: number,
): ContainerStatus {
  const { image = "", resources = {} } = container;
  const ended = before?.state?.terminated ?? before?.lastState?.terminated;
  const restartCount = (before?.restartCount ?? 0) + (ended && !isReset(before) ? 1 : 0);
  const volumeMounts = before?.volumeMounts ?? mountStatuses(container);
  return {
    name,
    state: { running: { startedAt: printTime(nowMs) } },
    lastState: ended ? { terminated: ended } : {},
    ready: false,
    restartCount,
    image,
    imageID: imageId(image),
    containerID: containerId(pod, name, restartCount),
    ...(resources.requests && { allocatedResources: resources.requests }),
    resources,
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
}

/** A container that has ended. */
export function endedStatus({ role }: PodContainer, before: ContainerStatus, exit: Exit): ContainerStatus {
  const { code: exitCode, atMs, message } = exit;
  const { startedAt } = before.state?.running ?? {};
  const reason = exit.reason ?? (exitCode === 0 ? "Completed" : "Error");
  const terminated = {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    ...(startedAt !== undefined && { startedAt }),
    finishedAt: printTime(atMs),
    ...(before.containerID !== undefined && { containerID: before.containerID }),
  };
  const isReady = role === "init" && exitCode === 0;
  return { ...before, state: { terminated }, ready: isReady, ...(role !== "ephemeral" && { started: false }) };
}

/** The status with what probes have found out. Upstream: UpdatePodStatus of the prober */
export function withHealth({ role }: PodContainer, before: ContainerStatus, health: Health): ContainerStatus {
  if (role === "ephemeral") return before;
  const { isStarted, isReady } = health;
  const ready = role !== "init" && isStarted && isReady;
  if (before.started === isStarted && before.ready === ready) return before;
  return { ...before, ready, started: isStarted };
}

/** Upstream: RecursiveReadOnlyMounts. No runtime class supports recursive read-only mounts. */
function mountStatuses({ volumeMounts = [] }: Container): VolumeMountStatus[] {
  return volumeMounts.map(({ name, mountPath, readOnly }) => ({
    ...(name !== undefined && { name }),
    ...(mountPath !== undefined && { mountPath }),
    ...(readOnly && { readOnly, recursiveReadOnly: "Disabled" }),
  }));
}
