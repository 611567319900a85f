import type { Clock } from "../../../base/util/clock.ts";
import type { Rule } from "../../../kinds/types/admission-registration.ts";
import { callModule, describeFailure, functionsOf } from "./call-module.ts";
import {
  type AdmissionModule,
  ALL_WRITES,
  FunctionFailure,
  type FunctionHost,
  type FunctionName,
  type FunctionOutcome,
  type SentCall,
} from "./module.ts";

/** Timeout of a function. */
const TIMEOUT_MS = 5000;

/**
 * Runs functions of the embedding program. They are trusted and run in its own thread, where an endless loop blocks the
 * server. A function whose promise takes too long fails.
 */
export class OwnFunctions implements FunctionHost {
  readonly title: string;
  readonly rules: readonly Rule[];
  readonly functions: readonly FunctionName[];
  readonly #module: AdmissionModule;
  readonly #clock: Pick<Clock, "setTimer">;

  constructor(module: AdmissionModule, title: string, clock: Pick<Clock, "setTimer">) {
    this.title = title;
    this.rules = module.rules ?? ALL_WRITES;
    this.functions = functionsOf(module);
    this.#module = module;
    this.#clock = clock;
  }

  async run(name: FunctionName, call: SentCall): Promise<FunctionOutcome> {
    const late = Promise.withResolvers<never>();
    const timer = this.#clock.setTimer(TIMEOUT_MS, () => late.reject(new Late()));
    try {
      return await Promise.race([callModule(this.#module, name, call), late.promise]);
    } catch (error) {
      const text = error instanceof Late ? `took longer than ${TIMEOUT_MS} ms` : describeFailure(error, isProgram);
      throw new FunctionFailure(`admission function of ${this.title} failed: ${name}: ${text}`);
    } finally {
      timer.close();
    }
  }
}

class Late extends Error {}

const isProgram = (frame: string): boolean => !frame.includes("node:internal");
