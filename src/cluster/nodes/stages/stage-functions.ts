import type { Json } from "../../../base/api/object.ts";
import { printYaml } from "../../../data/encoding/yaml/yaml-print.ts";
import { release } from "../../../serving/endpoints/release.ts";
import type { PodPlacement } from "../behaviour/container-env.ts";
import { KUBELET_PORT } from "../node-object.ts";
import type { TemplateFunctions, Value } from "./go-template/evaluate.ts";
import { templateFunctions } from "./go-template/functions.ts";

/** Upstream: Quote of KWOK, which prints JSON and quotes it unless it is a string. */
function quoteJson(value: Value): string {
  const text = JSON.stringify(value ?? null);
  return text.startsWith('"') ? text : JSON.stringify(text);
}

function yaml(value: Value, indent: Value): string {
  const text = printYaml(value ?? null);
  if (typeof indent !== "number" || indent <= 0) return text;
  return `\n${text}`.replaceAll("\n", `\n${" ".repeat(2 * indent)}`);
}

/** As `time.RFC3339Nano` of Go: without a fraction of zero. */
function printTime(ms: number): string {
  const text = new Date(ms).toISOString();
  return ms % 1000 === 0 ? text.replace(".000Z", "Z") : text;
}

const condition = (type: string, status: string, reason: string, message: string): Json => {
  return { type, status, reason, message };
};

/** Upstream: nodeConditions of KWOK */
const CONDITIONS: Json[] = [
  condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
  condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
  condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
  condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
  condition("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
];

/** KWOK's functions for objects of any kind, with those of Go's templates. `startMs`: when the nodes were started. */
export function stageFunctions(nowMs: number, startMs: number): TemplateFunctions {
  return {
    ...templateFunctions,
    Quote: quoteJson,
    Now: () => printTime(nowMs),
    StartTime: () => printTime(startMs),
    YAML: yaml,
    Version: () => release.version,
    NodeConditions: () => CONDITIONS,
  };
}

/** The functions of Stages of Pods. */
export function podFunctions({ hostIP, podIPs }: PodPlacement): TemplateFunctions {
  const [podIP = ""] = podIPs;
  return {
    NodeIP: () => hostIP,
    NodeIPWith: () => hostIP,
    NodeIPsWith: () => [hostIP],
    PodIP: () => podIP,
    PodIPWith: () => podIP,
    PodIPsWith: () => [...podIPs],
  };
}

/** The functions of Stages of Nodes. */
export function nodeFunctions(name: string, address: string): TemplateFunctions {
  return { NodeIP: () => address, NodeName: () => name, NodePort: () => KUBELET_PORT };
}

const KNOWN = { ...stageFunctions(0, 0), ...podFunctions({ hostIP: "", podIPs: [] }), ...nodeFunctions("", "") };

/** Whether templates of Stages can call a function. */
export const isStageFunction = (name: string): boolean => Object.hasOwn(KNOWN, name);
