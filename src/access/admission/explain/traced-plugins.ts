import type { AdmissionTrace } from "../../../base/api/admission-trace.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

/** Wraps plugins so that the trace records what each of them does. */
export function tracedPlugins(plugins: readonly AdmissionPlugin[], trace: AdmissionTrace): AdmissionPlugin[] {
  return plugins.map((plugin) => traced(plugin, trace));
}

function traced(plugin: AdmissionPlugin, trace: AdmissionTrace): AdmissionPlugin {
  const { name } = plugin;
  return {
    name,
    handles: (request) => plugin.handles(request),
    ...(plugin.mutate && {
      mutate: (request) =>
        trace.run("mutating", roundOf(request), name, request.object, async () => plugin.mutate?.(request)),
    }),
    ...(plugin.validate && {
      validate: (request) => trace.run("validating", 1, name, request.object, async () => plugin.validate?.(request)),
    }),
  };
}

const roundOf = ({ reinvocation }: AdmissionRequest): number => (reinvocation?.isReinvoke ? 2 : 1);
