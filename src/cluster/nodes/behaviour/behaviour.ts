import type { Container } from "../../../kinds/types/container.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { PodPlacement } from "./container-env.ts";

/** How a container ends. `atMs` may lie in the future. */
export interface Exit {
  readonly atMs: number;
  readonly code: number;
  /** Default: Completed or Error, by the code. */
  readonly reason?: string;
  /** The termination message. */
  readonly message?: string;
}

/** What probes have found out about a container. */
export interface Health {
  /** The startup probe has succeeded, or there is none. */
  readonly isStarted: boolean;
  readonly isReady: boolean;
  /** The probe by which the container must be restarted. */
  readonly failed?: "liveness" | "startup";
  /** When this changes next, if that is known. */
  readonly changesMs?: number;
}

/** A container that has been started. */
export interface ContainerProcess {
  /** How it has ended or will end. Undefined if it runs until it is stopped. */
  readonly exit: Exit | undefined;
  health(nowMs: number): Health;
  /** Ends it: it has `graceMs` to exit by itself. May be called again with less time. */
  stop(nowMs: number, graceMs: number): void;
  /** Called when its Pod no longer exists. */
  close(): void;
}

/** A container that is to be started. */
export interface ContainerInstance {
  readonly pod: Pod;
  readonly container: Container;
  /** `init`: it must exit before the next container starts. */
  readonly role: ContainerRole;
  readonly place: PodPlacement;
  readonly startedMs: number;
  readonly restartCount: number;
  /** The status when this server started: the container had been running before. */
  readonly resumed: Pick<Health, "isStarted" | "isReady"> | undefined;
  /** To be called when the exit or the health has changed. */
  readonly changed: () => void;
  /** Records an Event about the container. */
  readonly record: (type: "Normal" | "Warning", reason: string, message: string) => void;
}

/** What a container is in its Pod. */
export type ContainerRole = "init" | "sidecar" | "main" | "ephemeral";

/** Decides what containers do. */
export interface ContainerBehaviour {
  /** Why the image cannot be pulled. Undefined if it can. */
  pullError(pod: Pod, container: Container): string | undefined;
  start(instance: ContainerInstance): ContainerProcess;
  /** Whether a function decides what a container does. Stages do not apply to its Pod. */
  hasFunction(container: Container): boolean;
}
