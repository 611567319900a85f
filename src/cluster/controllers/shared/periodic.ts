import type { Clock } from "../../../base/util/clock.ts";
import type { Controller, ReportProblem } from "./controller.ts";

/** Options of `periodic`. */
export interface PeriodicOptions {
  readonly name: string;
  /** Pause after each sweep. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly report: ReportProblem;
  /** The informers that it reads. Each resolves once its objects are known. */
  readonly informers: readonly { use(signal: AbortSignal): Promise<void> }[];
  /** Looks at all objects. Its errors are reported. */
  sweep(): Promise<void>;
}

/** A controller that looks at all objects at its start and then from time to time. */
export function periodic({ name, everyMs, clock, report, informers, sweep }: PeriodicOptions): Controller {
  return {
    name,
    async run(signal) {
      await Promise.all(informers.map((informer) => informer.use(signal)));
      while (!signal.aborted) {
        await sweep().catch((error: unknown) => {
          if (!signal.aborted) report(name, error);
        });
        await clock.sleep(everyMs, signal);
      }
    },
  };
}
