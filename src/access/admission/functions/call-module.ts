import { MAX_BODY_BYTES, MAX_SLOW_BYTES, MAX_VALUES } from "../../../base/api/body-limits.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { countValues } from "../../../data/encoding/json/json.ts";
import type { AdmissionCall, AdmissionModule, FunctionName, FunctionOutcome, SentCall } from "./module.ts";

const NAMES: readonly FunctionName[] = ["mutate", "validate"];

/** The functions that a module exports. */
export function functionsOf(module: AdmissionModule): FunctionName[] {
  return NAMES.filter((name) => typeof module[name] === "function");
}

/** Calls a function of a module. Rejects with its error. */
export async function callModule(
  module: AdmissionModule,
  name: FunctionName,
  call: SentCall,
): Promise<FunctionOutcome> {
  const warnings: string[] = [];
  let left = MAX_SLOW_BYTES;
  const warn = (given: string) => {
    const text = String(given);
    left -= text.length;
    if (left >= 0) warnings.push(text);
  };
  const request: AdmissionCall = { ...call, warn };
  if (name === "mutate") {
    const made = await module.mutate?.(request);
    const object = made ?? request.object;
    return { object: object === undefined ? undefined : copyOf(object), warnings };
  }
  const refusal = await module.validate?.(request);
  const text = refusal === undefined || refusal === null ? undefined : String(refusal).slice(0, MAX_SLOW_BYTES);
  return { refusal: text, warnings };
}

/** Only JSON is passed on, and only as much as a client may send. */
function copyOf(object: unknown): KubeObject {
  const text = JSON.stringify(object) ?? "";
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_BODY_BYTES) throw new Error(`returned ${bytes.length} bytes, the limit is ${MAX_BODY_BYTES}`);
  if (countValues(bytes) > MAX_VALUES) throw new Error(`returned more than ${MAX_VALUES} values`);
  const copy: unknown = text === "" ? undefined : parseJsonText(text);
  if (!isObject(copy) || !isObject(copy.metadata))
    throw new Error("returned something other than an object with metadata");
  return copy as unknown as KubeObject;
}

/** The error message of a function, with the line of the first stack frame for which `isOwn` returns true. */
export function describeFailure(error: unknown, isOwn: (frame: string) => boolean): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frame = stack.split("\n").find((line) => line.startsWith("    at ") && isOwn(line));
  const place = frame === undefined ? undefined : /:(\d+):\d+\)?$/.exec(frame)?.[1];
  return place === undefined ? text : `${text} (line ${place})`;
}
