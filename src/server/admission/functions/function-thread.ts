import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type {
  AdmissionCall,
  AdmissionModule,
  FunctionName,
  FunctionOutcome,
} from "../../../admission/functions/module.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { FromFunctions, ToFunctions } from "./messages.ts";

const { file } = workerData as { readonly file: string };
const NAMES: readonly FunctionName[] = ["mutate", "validate"];
const post = (message: FromFunctions) => parentPort?.postMessage(message);

/** The program of a thread that runs the functions of one file. */
async function work(): Promise<void> {
  const module = await load();
  if (!module) return;
  parentPort?.on("message", (message: ToFunctions) => void answer(module, message));
  const functions = NAMES.filter((name) => typeof module[name] === "function");
  post({ type: "loaded", rules: module.rules, functions });
}

async function load(): Promise<AdmissionModule | undefined> {
  try {
    return (await import(file)) as AdmissionModule;
  } catch (error) {
    post({ type: "broken", text: describe(error) });
    return undefined;
  }
}

async function answer(module: AdmissionModule, { id, name, call }: ToFunctions): Promise<void> {
  const warnings: string[] = [];
  const request: AdmissionCall = { ...call, warn: (text) => void warnings.push(String(text)) };
  try {
    post({ type: "done", id, outcome: { ...(await outcomeOf(module, name, request)), warnings } });
  } catch (error) {
    post({ type: "failed", id, text: `${name}: ${describe(error)}` });
  }
}

async function outcomeOf(
  module: AdmissionModule,
  name: FunctionName,
  request: AdmissionCall,
): Promise<Omit<FunctionOutcome, "warnings">> {
  if (name === "mutate") {
    const made = await module.mutate?.(request);
    const object = (made ?? request.object) as KubeObject | undefined;
    // Only JSON leaves: what else an object may hold is nobody's business.
    return { object: object && (JSON.parse(JSON.stringify(object)) as KubeObject) };
  }
  const refusal = await module.validate?.(request);
  return { refusal: refusal === undefined || refusal === null ? undefined : String(refusal) };
}

/** What went wrong, and where in the file. */
function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frame = stack.split("\n").find((line) => line.includes(file) || line.includes(fileURLToPath(file)));
  const place = frame === undefined ? undefined : /:(\d+):\d+\)?$/.exec(frame)?.[1];
  return place === undefined ? text : `${text} (line ${place})`;
}

void work();
