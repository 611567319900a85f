import { GrpcError, grpcStatus } from "./transport.ts";

/** Message of calls that are not sent or not repeated because the cluster does not respond. */
const SILENT = "etcd does not answer";
const PROBE_INTERVAL_MS = 1000;

/** The probe, and a callback for changes. */
export interface SilenceOptions {
  /** Sends a request that needs a quorum; resolves on a response. */
  readonly probe: () => Promise<unknown>;
  /** Called with an error when the cluster stops responding, and with undefined when it responds again. */
  readonly changed?: (error: GrpcError | undefined) => void;
}

/**
 * Detects a cluster that has stopped responding while its connections stay open, as a paused one does. Only one call
 * has to time out: if no other call was answered meanwhile, all calls fail at once until a probe, sent every second,
 * succeeds.
 */
export class Silence {
  readonly #options: SilenceOptions;
  #answers = 0;
  #isOver: PromiseWithResolvers<void> | undefined;
  #probing: NodeJS.Timeout | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  /** How many calls have been answered so far. */
  get answers(): number {
    return this.#answers;
  }

  get isSilent(): boolean {
    return this.#isOver !== undefined;
  }

  /** Call for every response. */
  answered(): void {
    this.#answers++;
    if (this.#isOver !== undefined) this.#end();
  }

  /** Reports a timed-out call; `answersBefore` is the value of `answers` when it began. */
  noteTimeout(answersBefore: number): void {
    if (this.#isOver !== undefined || answersBefore !== this.#answers) return;
    this.#isOver = Promise.withResolvers();
    this.#probing = setInterval(() => this.#probe(), PROBE_INTERVAL_MS).unref();
    this.#probe();
    this.#options.changed?.(this.error(false));
  }

  /** Resolves when the cluster responds again, or after `withinMs`. */
  async over(withinMs: number): Promise<void> {
    if (this.#isOver === undefined) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, withinMs);
    await Promise.race([this.#isOver.promise, late.promise]);
    clearTimeout(timer);
  }

  /** The error of calls while the cluster does not respond. */
  error(mayHaveHappened: boolean): GrpcError {
    return new GrpcError(grpcStatus.deadlineExceeded, SILENT, { mayHaveHappened });
  }

  /** Stops probing. */
  close(): void {
    clearInterval(this.#probing);
  }

  #probe(): void {
    this.#options.probe().then(
      () => this.answered(),
      () => undefined,
    );
  }

  #end(): void {
    clearInterval(this.#probing);
    this.#isOver?.resolve();
    this.#isOver = undefined;
    this.#options.changed?.(undefined);
  }
}
