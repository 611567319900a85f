import type { Container } from "../../../kinds/types/container.ts";
import { isSidecar } from "../../../kinds/types/container.ts";
import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ContainerRole } from "../behaviour/behaviour.ts";

/** A container of a Pod and what it is for. */
export interface PodContainer {
  readonly container: Container;
  readonly name: string;
  readonly role: ContainerRole;
  /** Locates it in Events. */
  readonly fieldPath: string;
}

/** All containers in the order in which a kubelet starts them: init containers and sidecars, others, ephemeral ones. */
export function podContainers({ spec = {} }: Pod): PodContainer[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  const of = (list: string, container: Container, role: ContainerRole): PodContainer => {
    const { name = "" } = container;
    return { container, name, role, fieldPath: `spec.${list}{${name}}` };
  };
  return [
    ...initContainers.map((one) => of("initContainers", one, isSidecar(one) ? "sidecar" : "init")),
    ...containers.map((one) => of("containers", one, "main")),
    ...ephemeralContainers.map((one) => of("ephemeralContainers", one, "ephemeral")),
  ];
}

/** The statuses of all containers by name. Names are unique within a Pod. */
export function containerStatuses({ status = {} }: Pod): Map<string, ContainerStatus> {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return new Map(all.map((one) => [one.name ?? "", one]));
}

/** The exit code of a container that has ended. Undefined if it has not started or runs. */
export function exitCodeOf(status: ContainerStatus | undefined): number | undefined {
  return status?.state?.terminated?.exitCode;
}

/** How long the containers of a Pod may take to stop. */
export const graceMs = ({ spec: { terminationGracePeriodSeconds = 30 } = {} }: Pod): number =>
  terminationGracePeriodSeconds * 1000;

/** Whether a container runs. */
export const isRunning = (status: ContainerStatus | undefined): boolean => status?.state?.running !== undefined;

/** Whether an init container has succeeded, or a sidecar has started. */
export function isInitialized({ role }: PodContainer, status: ContainerStatus | undefined): boolean {
  return role === "sidecar" ? isRunning(status) && status?.started === true : exitCodeOf(status) === 0;
}

/** The reason of containers that begin anew because of another one. */
export const RESTARTING = "RestartingAllContainers";

/** Whether a container begins anew because of another one, and does not run yet. */
export const isReset = (status: ContainerStatus | undefined): boolean => status?.state?.waiting?.reason === RESTARTING;

/** Whether a container runs or has run. */
export function hasStarted(status: ContainerStatus | undefined): boolean {
  const { state = {}, lastState = {} } = status ?? {};
  return state.running !== undefined || state.terminated !== undefined || lastState.terminated !== undefined;
}
