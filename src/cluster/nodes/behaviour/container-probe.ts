import type { Clock, Timer } from "../../../base/util/clock.ts";
import type { Probe } from "../../../kinds/types/container.ts";
import { messageOf } from "../../controllers/shared/controller.ts";

/** The result of one check: undefined if it succeeded, otherwise why it failed. */
export type ProbeResult = string | undefined;

/** Options of a probe. */
export interface ContainerProbeOptions {
  /** The probe of the container. Undefined: the check is repeated every second until it succeeds. */
  readonly spec: Probe | undefined;
  readonly check: () => ProbeResult | Promise<ProbeResult>;
  readonly clock: Clock;
  /** Called when enough checks in a row have succeeded or failed. */
  readonly changed: (isSuccess: boolean) => void;
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
  /** The last result, and how often in a row. */
  #run = { isSuccess: false, count: 0 };
  #result: boolean | undefined;

  constructor(options: ContainerProbeOptions) {
    this.#options = options;
    this.#spec = options.spec ?? WITHOUT_SPEC;
  }

  /** Begins now, or after the initial delay. */
  start(): void {
    const { initialDelaySeconds = 0 } = this.#spec;
    if (initialDelaySeconds === 0) this.#check();
    else this.#timer = this.#options.clock.setTimer(initialDelaySeconds * 1000, () => this.#check());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.close();
  }

  #check(): void {
    const late = (error: unknown) => this.#note(messageOf(error));
    try {
      const result = this.#options.check();
      if (result instanceof Promise) result.then((output) => this.#note(output), late);
      else this.#note(result);
    } catch (error) {
      late(error);
    }
  }

  #note(output: ProbeResult): void {
    if (this.#isClosed) return;
    const { periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = this.#spec;
    const isSuccess = output === undefined;
    if (output !== undefined && this.#options.spec) this.#options.failed(output);
    const count = this.#run.isSuccess === isSuccess ? this.#run.count + 1 : 1;
    this.#run = { isSuccess, count };
    const isEnough = count >= (isSuccess ? successThreshold : failureThreshold);
    const isNews = isEnough && this.#result !== isSuccess;
    if (isNews) this.#result = isSuccess;
    const isDone = isSuccess && this.#options.spec === undefined;
    if (!isDone) this.#timer = this.#options.clock.setTimer(periodSeconds * 1000, () => this.#check());
    if (isNews) this.#options.changed(isSuccess);
  }
}
