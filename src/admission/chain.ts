import type { AdmissionTrace } from "../api/admission-trace.ts";
import { forbidden } from "../api/api-error.ts";
import { tracedPlugins } from "./explain/traced-plugins.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./plugin.ts";

/** The two passes of admission, as metrics call them: mutating and validating. */
export type AdmissionStep = "admit" | "validate";

/** Hears how long admission took, and whether it refused. */
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

/** Who is told, by which clock. */
export interface ObservedAdmission {
  readonly observer: AdmissionObserver;
  readonly clock: { monotonic(): number };
}

const UNOBSERVED: ObservedAdmission = {
  observer: { pluginEnded: () => {}, stepEnded: () => {} },
  clock: { monotonic: () => 0 },
};

/** Admission plugins in order. The first refusal ends the request. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #observed: ObservedAdmission;

  constructor(plugins: readonly AdmissionPlugin[], observed: ObservedAdmission = UNOBSERVED) {
    this.#plugins = plugins;
    this.#observed = observed;
  }

  /** Mutating admission: lets every plugin change the object, in order, and once more if one asks for that. */
  mutate(request: AdmissionRequest): Promise<void> {
    return request.trace ? this.#trace("admit", request, request.trace) : this.#run("admit", request, this.#plugins);
  }

  /** Validating admission: lets every plugin judge the finished object, in order. */
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
    // When the latest plugin ended, which is when the next one began but for the time to ask which one that is.
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

/** Compat: `forbidCreateAdmission` stands before all plugins while the definition of a custom kind is terminating. */
function refuseLateCreate({ operation, resource: { definition }, name }: AdmissionRequest): void {
  if (operation !== "CREATE" || !definition.presence?.isTerminating) return;
  const { group, plural } = definition;
  throw forbidden(
    { group, resource: plural },
    name,
    "create not allowed while custom resource definition is terminating",
  );
}
