import { GrpcError, grpcStatus } from "./transport.ts";

/** What the error of a call says that was not tried, or not tried again, since nobody has answered for some time. */
const SILENT = "etcd does not answer";
const PROBE_INTERVAL_MS = 1000;

/** What is asked again and again, and who hears of it. */
export interface SilenceOptions {
  /** Asks the cluster something that needs a quorum; resolves when it has answered. */
  readonly probe: () => Promise<unknown>;
  /** Called with an error when nobody answers any more, and with undefined when somebody does. */
  readonly changed?: (error: GrpcError | undefined) => void;
}

/**
 * Knows whether a cluster has stopped to answer, as a paused one does whose connections stay open. Only one call has to
 * wait for that: once it has waited in vain, and no other was answered meanwhile, all fail at once until a probe, sent
 * every second, is answered.
 */
export class Silence {
  readonly #options: SilenceOptions;
  #answers = 0;
  #isOver: PromiseWithResolvers<void> | undefined;
  #probing: NodeJS.Timeout | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  /** How many calls were answered so far. */
  get answers(): number {
    return this.#answers;
  }

  get isSilent(): boolean {
    return this.#isOver !== undefined;
  }

  /** To be told of every answer. */
  answered(): void {
    this.#answers++;
    if (this.#isOver !== undefined) this.#end();
  }

  /** To be told that a call has waited in vain that began when there were so many answers. */
  noteTimeout(answersBefore: number): void {
    if (this.#isOver !== undefined || answersBefore !== this.#answers) return;
    this.#isOver = Promise.withResolvers();
    this.#probing = setInterval(() => this.#probe(), PROBE_INTERVAL_MS).unref();
    this.#probe();
    this.#options.changed?.(this.error(false));
  }

  /** Resolves when somebody has answered, or after so long. */
  async over(withinMs: number): Promise<void> {
    if (this.#isOver === undefined) return;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, withinMs);
    await Promise.race([this.#isOver.promise, late.promise]);
    clearTimeout(timer);
  }

  /** What a call fails with meanwhile. */
  error(mayHaveHappened: boolean): GrpcError {
    return new GrpcError(grpcStatus.deadlineExceeded, SILENT, { mayHaveHappened });
  }

  /** Stops asking. */
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
