import type { KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { WorkQueue, type WorkQueueOptions } from "../../../base/util/work-queue.ts";
import { type Controller, isStatus, type ReportProblem } from "./controller.ts";
import { type Informer, keyOf, type Observer } from "./informer.ts";

/** Work queue of `namespace/name` keys. */
export type Queue = Pick<WorkQueue<string>, "add" | "addAfter">;

/** An informer that a loop uses, and which keys a change of its objects concerns. */
export interface Source {
  /** Resolves once all objects are known, or the signal aborts. */
  load(signal: AbortSignal): Promise<void>;
  /** Adds keys to the queue, for all known objects first. Returns a function that ends this. */
  observe(queue: Queue): () => void;
}

/** Options of `loop`. */
export interface LoopOptions {
  readonly name: string;
  /** Maximum number of keys that are synced at the same time. */
  readonly workers: number;
  readonly sources: readonly Source[];
  readonly clock: Clock;
  readonly report: ReportProblem;
  /** Changes that come one after the other are synced together. Default: false. */
  readonly gathers?: boolean;
  /** Default: those of client-go. */
  readonly retries?: Retries;
  /** Brings the object of a key closer to its spec. If it throws, it is called again later. */
  sync(key: string, queue: Queue): Promise<void>;
}

/** Thrown by a sync that must be repeated later although nothing has failed. It is not reported. */
export class NotYet extends Error {}

/** When keys whose sync has failed are synced again. */
export type Retries = Pick<
  WorkQueueOptions<string>,
  "minBackoffMs" | "maxBackoffMs" | "retriesPerSecond" | "retryBurst"
>;

/** Upstream: DefaultTypedControllerRateLimiter of client-go. */
const RETRIES: Retries = { minBackoffMs: 5, maxBackoffMs: 1_000_000, retriesPerSecond: 10, retryBurst: 100 };

/** A controller in the usual form: informers fill a work queue, and workers sync one key at a time. */
export function loop({
  name,
  workers,
  sources,
  clock,
  report,
  gathers = false,
  retries = RETRIES,
  sync,
}: LoopOptions): Controller {
  return {
    name,
    async run(signal) {
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => stopped.resolve(), { once: true });
      const queue: WorkQueue<string> = new WorkQueue<string>({
        clock,
        concurrency: workers,
        gathers,
        ...retries,
        work: async (key) => {
          if (!signal.aborted) await sync(key, queue);
        },
        onError: (error) => {
          // A conflict means that the informer is about to show a change.
          const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
          if (!signal.aborted && !isStatus(cause, 409) && !(error instanceof NotYet)) report(name, error);
        },
      });
      await Promise.all(sources.map((one) => one.load(signal)));
      if (signal.aborted) return;
      const disconnect = sources.map((one) => one.observe(queue));
      await stopped.promise;
      for (const end of disconnect) end();
      await queue.close();
    },
  };
}

/** A source whose observer adds keys to the queue. */
export function source<T extends KubeObject>(informer: Informer<T>, observer: (queue: Queue) => Observer<T>): Source {
  return { load: (signal) => informer.use(signal), observe: (queue) => informer.observe(observer(queue)) };
}

/** A source of the objects that a loop syncs: each change adds the key of its object. */
export function synced<T extends KubeObject>(informer: Informer<T>): Source {
  return source(informer, (queue) => (before, after) => {
    const object = after ?? before;
    if (object) queue.add(keyOf(object));
  });
}

/** A source of objects that a loop only reads. */
export function unobserved<T extends KubeObject>(informer: Informer<T>): Source {
  return source(informer, () => () => undefined);
}
