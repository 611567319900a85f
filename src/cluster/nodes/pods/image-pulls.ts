import { quote } from "../../../base/go/quote.ts";
import type { ContainerBehaviour } from "../behaviour/behaviour.ts";
import type { PodContainer } from "./containers.ts";
import type { PodTurn } from "./pod-turn.ts";
import { nextDelayMs } from "./restarts.ts";

/** How long a container shows the error of a pull before it shows the backoff. */
const SHOWN_MS = 1000;

interface Failure {
  readonly atMs: number;
  readonly delayMs: number;
  readonly error: string;
  isShown: boolean;
}

/** Pulls of images of the containers of one Pod. They take no time, but may fail. */
export class ImagePulls {
  readonly #behaviour: ContainerBehaviour;
  readonly #failures = new Map<string, Failure>();

  constructor(behaviour: ContainerBehaviour) {
    this.#behaviour = behaviour;
  }

  /** The waiting state of a container whose image cannot be pulled now. Undefined if it can start. */
  refusal(turn: PodTurn, one: PodContainer): { reason: string; message: string } | undefined {
    const { nowMs } = turn;
    const known = this.#failures.get(one.name);
    if (known && nowMs < known.atMs + known.delayMs) return this.#backOff(turn, one, known);
    const error = this.#behaviour.pullError(turn.pod, one.container);
    if (error === undefined) {
      this.#failures.delete(one.name);
      return undefined;
    }
    const delayMs = nextDelayMs(known?.delayMs);
    this.#failures.set(one.name, { atMs: nowMs, delayMs, error, isShown: false });
    turn.wakeAt(nowMs + SHOWN_MS);
    const image = quote(one.container.image ?? "");
    turn.record("Normal", "Pulling", `Pulling image ${image}`, one);
    turn.record("Warning", "Failed", `Failed to pull image ${image}: ${error}`, one);
    turn.record("Warning", "Failed", "Error: ErrImagePull", one);
    return { reason: "ErrImagePull", message: error };
  }

  recordPulled(turn: PodTurn, one: PodContainer): void {
    const { image = "", imagePullPolicy } = one.container;
    const name = quote(image);
    if (imagePullPolicy !== "Always") {
      const text = `Container image ${name} already present on machine and can be accessed by the pod`;
      turn.record("Normal", "Pulled", text, one);
      return;
    }
    turn.record("Normal", "Pulling", `Pulling image ${name}`, one);
    const text = `Successfully pulled image ${name} in 0s (0s including waiting). Image size: 0 bytes.`;
    turn.record("Normal", "Pulled", text, one);
  }

  #backOff(turn: PodTurn, one: PodContainer, failure: Failure): { reason: string; message: string } {
    const { atMs, delayMs, error } = failure;
    if (turn.nowMs < atMs + SHOWN_MS) {
      turn.wakeAt(atMs + SHOWN_MS);
      return { reason: "ErrImagePull", message: error };
    }
    turn.wakeAt(atMs + delayMs);
    const message = `Back-off pulling image ${quote(one.container.image ?? "")}`;
    if (!failure.isShown) {
      turn.record("Normal", "BackOff", message, one);
      turn.record("Warning", "Failed", "Error: ImagePullBackOff", one);
    }
    failure.isShown = true;
    return { reason: "ImagePullBackOff", message: `${message}: ErrImagePull: ${error}` };
  }
}
