import type { AdmissionPlugin, AdmissionRequest } from "./plugin.ts";

/** Admission plugins in order. The first refusal ends the request. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** Mutating admission: lets every plugin change the object, in order. */
  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.mutate && plugin.handles(request)) await plugin.mutate(request);
    }
  }

  /** Validating admission: lets every plugin judge the finished object, in order. */
  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.validate && plugin.handles(request)) await plugin.validate(request);
    }
  }
}
