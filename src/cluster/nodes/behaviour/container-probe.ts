import type { Clock, Timer } from "../../../base/util/clock.ts";
import type { Probe } from "../../../kinds/types/container.ts";
import { messageOf } from "../../controllers/shared/controller.ts";
import { firstProbeMs, periodMs } from "./probe-times.ts";

/** The result of one check: undefined if it succeeded, otherwise why it failed. */
export type ProbeResult = string | undefined;

/** Options of a probe. */
export interface ContainerProbeOptions {
  /** The probe of the container. Undefined: the check is repeated every second until it succeeds. */
  readonly spec: Probe | undefined;
  readonly check: () => ProbeResult | Promise<ProbeResult>;
  /** The result of a check that takes longer than the probe allows. */
  readonly late: string;
  readonly clock: Clock;
  /** Called when enough checks in a row have succeeded or failed. */
  readonly changed: (isSuccess: boolean) => void;
  /** Whether such a result is the last: no more checks follow. */
  readonly isFinal: (isSuccess: boolean) => boolean;
  /** Called for each check that fails. */
  readonly failed: (output: string) => void;
}

const WITHOUT_SPEC: Probe = { periodSeconds: 1, failureThreshold: 1 };

/** Repeats a check of a container. Upstream: worker of the prober */
export class ContainerProbe {
  readonly #options: ContainerProbeOptions;
  readonly #spec: Probe;
  #timer: Timer | undefined;
  #isClosed = false;
  /** The number of the current check. Results of earlier ones come too late. */
  #check = 0;
  /** The last result, and how often in a row. */
  #run = { isSuccess: false, count: 0 };
  #result: boolean | undefined;

  constructor(options: ContainerProbeOptions) {
    this.#options = options;
    this.#spec = options.spec ?? WITHOUT_SPEC;
  }

  /** Begins now, or at the first tick after the initial delay. `sinceMs`: how long the container has been running. */
  start(sinceMs: number): void {
    const delayMs = firstProbeMs(this.#spec, sinceMs);
    if (delayMs === 0) this.#tick();
    else this.#timer = this.#options.clock.setTimer(delayMs, () => this.#tick());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.close();
  }

  #tick(): void {
    const { clock, check, spec, late } = this.#options;
    const number = ++this.#check;
    const beganMs = clock.now();
    const note = (output: ProbeResult) => {
      if (number !== this.#check || this.#isClosed) return;
      this.#timer?.close();
      this.#check += 1;
      this.#note(output, beganMs);
    };
    const noteError = (error: unknown) => note(messageOf(error));
    try {
      const result = check();
      if (result instanceof Promise) {
        if (spec) this.#timer = clock.setTimer((spec.timeoutSeconds ?? 1) * 1000, () => note(late));
        result.then(note, noteError);
      } else note(result);
    } catch (error) {
      noteError(error);
    }
  }

  #note(output: ProbeResult, beganMs: number): void {
    const { spec, clock, changed, isFinal, failed } = this.#options;
    const { successThreshold = 1, failureThreshold = 3 } = this.#spec;
    const isSuccess = output === undefined;
    if (output !== undefined && spec) failed(output);
    const count = this.#run.isSuccess === isSuccess ? this.#run.count + 1 : 1;
    this.#run = { isSuccess, count };
    const isEnough = count >= (isSuccess ? successThreshold : failureThreshold);
    const isNews = isEnough && this.#result !== isSuccess;
    if (isNews) this.#result = isSuccess;
    const isDone = spec === undefined ? isSuccess : isEnough && isFinal(isSuccess);
    const nextMs = Math.max(0, beganMs + periodMs(this.#spec) - clock.now());
    if (!isDone) this.#timer = clock.setTimer(nextMs, () => this.#tick());
    if (isNews) changed(isSuccess);
  }
}
