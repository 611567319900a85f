import type { KubeObject } from "../../../base/api/object.ts";
import type { CommandRequest } from "./command-request.ts";

/** How a container ends. */
export interface ContainerExit {
  readonly code: number;
  /** Default: Completed or Error, by the code. `OOMKilled` for a container without memory. */
  readonly reason?: string;
  /** The termination message. */
  readonly message?: string;
}

/** A container at the moment of a call. */
export interface ContainerState {
  readonly pod: KubeObject;
  /** The name of the container. */
  readonly container: string;
  readonly image: string;
  /** Milliseconds since it started. */
  readonly since: number;
  readonly restartCount: number;
}

/** A container at the moment of a command. */
export interface CommandContext extends ContainerState {
  /** Environment variables of the container. */
  readonly env: Readonly<Record<string, string>>;
}

/** What the function of a container works with. */
export interface ContainerContext extends Omit<ContainerState, "since"> {
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Environment variables, with those of ConfigMaps, Secrets, fields of the Pod and addresses of Services. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes lines to the log. */
  log(text: string): void;
  /**
   * Waits on the clock of the server: milliseconds, or a text such as `20m`. Rejects when the container is stopped, and
   * the container then exits with 143.
   */
  sleep(span: number | string): Promise<void>;
  /** Aborts when the container is stopped. After the grace period it counts as killed. */
  readonly signal: AbortSignal;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a function need not return anything
type Nothing = void | undefined;

type Answer<T> = T | Promise<T>;

/** Runs instead of a container. Returns the exit code, 0 if omitted. An error is logged, and the exit code is 1. */
export type ContainerFunction = (context: ContainerContext) => Answer<ContainerExit | number | Nothing>;

/** Resources that a container uses, as quantities such as `250m` and `64Mi`. */
export interface ContainerUsage {
  readonly cpu?: string;
  readonly memory?: string;
}

/** What a container does, instead of running. */
export interface ContainerDefinition {
  /** If omitted, the container runs until it is stopped. */
  readonly run?: ContainerFunction;
  /** The result of the readiness probe. Without such a probe it is asked every second until it is true. */
  readonly ready?: (state: ContainerState) => Answer<boolean>;
  /** The result of the liveness probe. */
  readonly healthy?: (state: ContainerState) => Answer<boolean>;
  /** The result of the startup probe. */
  readonly started?: (state: ContainerState) => Answer<boolean>;
  /** Serves every port of the container: proxies, port-forward and HTTP probes reach it. */
  readonly http?: (request: Request, state: ContainerState) => Answer<Response>;
  /** Runs commands of exec and of exec probes. Returns the exit code, or a text for stdout. */
  readonly exec?: (request: CommandRequest, context: CommandContext) => Answer<number | string | Nothing>;
  /** Serves attach. If omitted, attach shows the log. */
  readonly attach?: (request: CommandRequest) => Answer<number | Nothing>;
  /** What `kubectl top` and the HorizontalPodAutoscaler see. */
  readonly usage?: (state: ContainerState) => ContainerUsage;
  /** Why the image cannot be pulled, as in ErrImagePull. */
  readonly pullError?: string;
}

/** Functions by patterns of images: `*` stands for any text. */
export type ContainerImages = Readonly<Record<string, ContainerFunction | ContainerDefinition>>;
