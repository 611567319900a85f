import type { AdmissionTrace } from "../../base/api/admission-trace.ts";
import { forbidden } from "../../base/api/api-error.ts";
import { tracedPlugins } from "./explain/traced-plugins.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./plugin.ts";

/** The two phases of admission, as named in metrics: mutating ("admit") and validating ("validate"). */
export type AdmissionStep = "admit" | "validate";

/** Receives the duration and result of plugins and phases. */
export interface AdmissionObserver {
  pluginEnded(
    name: string,
    step: AdmissionStep,
    operation: AdmissionRequest["operation"],
    isRejected: boolean,
    seconds: number,
  ): void;
  stepEnded(step: AdmissionStep, operation: AdmissionRequest["operation"], isRejected: boolean, seconds: number): void;
}

/** An observer with the clock that durations are measured by. */
export interface ObservedAdmission {
  readonly observer: AdmissionObserver;
  readonly clock: { monotonic(): number };
}

const UNOBSERVED: ObservedAdmission = {
  observer: { pluginEnded: () => {}, stepEnded: () => {} },
  clock: { monotonic: () => 0 },
};

/** Runs admission plugins in order. The first rejection ends the request. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #observed: ObservedAdmission;

  constructor(plugins: readonly AdmissionPlugin[], observed: ObservedAdmission = UNOBSERVED) {
    this.#plugins = plugins;
    this.#observed = observed;
  }

  /** Mutating admission: runs all plugins in order, and a second time if one of them requested it. */
  mutate(request: AdmissionRequest): Promise<void> {
    return request.trace ? this.#trace("admit", request, request.trace) : this.#run("admit", request, this.#plugins);
  }

  /** Validating admission: runs all plugins in order on the final object. */
  validate(request: AdmissionRequest): Promise<void> {
    const { trace } = request;
    return trace ? this.#trace("validate", request, trace) : this.#run("validate", request, this.#plugins);
  }

  async #trace(step: AdmissionStep, request: AdmissionRequest, trace: AdmissionTrace): Promise<void> {
    const phase = step === "admit" ? "mutating" : "validating";
    trace.began(phase);
    await this.#run(step, request, tracedPlugins(this.#plugins, trace));
    trace.ended(phase);
  }

  async #run(step: AdmissionStep, request: AdmissionRequest, plugins: readonly AdmissionPlugin[]): Promise<void> {
    const { clock, observer } = this.#observed;
    const { operation } = request;
    const startMs = clock.monotonic();
    // When the last plugin ended. It serves as the start of the next one, so `handles` calls in between are included.
    let atMs = startMs;
    const seconds = (sinceMs: number): number => {
      atMs = clock.monotonic();
      return (atMs - sinceMs) / 1000;
    };
    let running = "";
    try {
      refuseLateCreate(request);
      do {
        for (const plugin of plugins) {
          const isAsked = step === "admit" ? plugin.mutate !== undefined : plugin.validate !== undefined;
          if (!isAsked || !plugin.handles(request)) continue;
          running = plugin.name;
          await (step === "admit" ? plugin.mutate?.(request) : plugin.validate?.(request));
          observer.pluginEnded(running, step, operation, false, seconds(atMs));
          running = "";
        }
      } while (step === "admit" && request.reinvocation?.begin());
    } catch (error) {
      if (running !== "") observer.pluginEnded(running, step, operation, true, seconds(atMs));
      observer.stepEnded(step, operation, true, seconds(startMs));
      throw error;
    }
    observer.stepEnded(step, operation, false, seconds(startMs));
  }
}

/** Compat: `forbidCreateAdmission` runs before all plugins while the CustomResourceDefinition is terminating. */
function refuseLateCreate({ operation, resource: { definition }, name }: AdmissionRequest): void {
  if (operation !== "CREATE" || !definition.presence?.isTerminating) return;
  const { group, plural } = definition;
  throw forbidden(
    { group, resource: plural },
    name,
    "create not allowed while custom resource definition is terminating",
  );
}
