import type { MakePlugin } from "../plugin.ts";

/** Keeps Pods with scheduling gates out of the queue. */
export const schedulingGates: MakePlugin = () => ({
  name: "SchedulingGates",
  events: [{ resource: "TargetPod", actions: ["UpdatePodSchedulingGatesEliminated"] }],
  preEnqueue({ spec }) {
    const gates = spec?.schedulingGates ?? [];
    if (gates.length === 0) return undefined;
    return `waiting for scheduling gates: [${gates.map(({ name }) => name).join(" ")}]`;
  },
});
