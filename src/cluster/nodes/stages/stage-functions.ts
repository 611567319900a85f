import type { Json } from "../../../base/api/object.ts";
import { printYaml } from "../../../data/encoding/yaml/yaml-print.ts";
import { release } from "../../../serving/endpoints/release.ts";
import type { PodPlacement } from "../behaviour/container-env.ts";
import { nodeConditions } from "../node-object.ts";
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

const CONDITIONS: Json[] = nodeConditions({ kind: "Node", apiVersion: "v1", metadata: {} }, "").map(
  ({ type, status, reason, message }) => ({ type, status, reason, message }),
);

/** KWOK's functions, with those of Go's templates. `startMs`: when the nodes were started. */
export function stageFunctions(place: PodPlacement, nowMs: number, startMs: number): TemplateFunctions {
  const { hostIP, podIPs } = place;
  const [podIP = ""] = podIPs;
  return {
    ...templateFunctions,
    Quote: quoteJson,
    Now: () => printTime(nowMs),
    StartTime: () => printTime(startMs),
    YAML: yaml,
    Version: () => release.version,
    NodeConditions: () => CONDITIONS,
    NodeIP: () => hostIP,
    NodeIPWith: () => hostIP,
    NodeIPsWith: () => [hostIP],
    PodIP: () => podIP,
    PodIPWith: () => podIP,
    PodIPsWith: () => [...podIPs],
  };
}

const KNOWN = stageFunctions({ hostIP: "", podIPs: [] }, 0, 0);

/** Whether templates of Stages can call a function. */
export const isStageFunction = (name: string): boolean => Object.hasOwn(KNOWN, name);
