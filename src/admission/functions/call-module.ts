import type { KubeObject } from "../../api/object.ts";
import type { AdmissionCall, AdmissionModule, FunctionName, FunctionOutcome, SentCall } from "./module.ts";

const NAMES: readonly FunctionName[] = ["mutate", "validate"];

/** Which of the two functions a module has. */
export function functionsOf(module: AdmissionModule): FunctionName[] {
  return NAMES.filter((name) => typeof module[name] === "function");
}

/** Calls a function of a module. Rejects with whatever it throws. */
export async function callModule(
  module: AdmissionModule,
  name: FunctionName,
  call: SentCall,
): Promise<FunctionOutcome> {
  const warnings: string[] = [];
  const request: AdmissionCall = { ...call, warn: (text) => void warnings.push(String(text)) };
  if (name === "mutate") {
    const made = await module.mutate?.(request);
    const object = (made ?? request.object) as KubeObject | undefined;
    // Only JSON leaves: what else an object may hold is nobody's business.
    return { object: object && (JSON.parse(JSON.stringify(object)) as KubeObject), warnings };
  }
  const refusal = await module.validate?.(request);
  return { refusal: refusal === undefined || refusal === null ? undefined : String(refusal), warnings };
}

/** What went wrong in a function, and in which line, as the first frame of the stack says that `isOwn` takes for its own. */
export function describeFailure(error: unknown, isOwn: (frame: string) => boolean): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frame = stack.split("\n").find((line) => line.startsWith("    at ") && isOwn(line));
  const place = frame === undefined ? undefined : /:(\d+):\d+\)?$/.exec(frame)?.[1];
  return place === undefined ? text : `${text} (line ${place})`;
}
