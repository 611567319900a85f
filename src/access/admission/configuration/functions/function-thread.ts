import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { callModule, describeFailure, functionsOf } from "../../functions/call-module.ts";
import type { AdmissionModule } from "../../functions/module.ts";
import type { FromFunctions, ToFunctions } from "./messages.ts";

const { file } = workerData as { readonly file: string };
const post = (message: FromFunctions) => parentPort?.postMessage(message);

/** Entry point of a thread that runs the functions of one file. */
async function work(): Promise<void> {
  const module = await load();
  if (!module) return;
  parentPort?.on("message", (message: ToFunctions) => void answer(module, message));
  post({ type: "loaded", rules: module.rules, functions: functionsOf(module) });
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
  try {
    post({ type: "done", id, outcome: await callModule(module, name, call) });
  } catch (error) {
    post({ type: "failed", id, text: `${name}: ${describe(error)}` });
  }
}

/** The error, with its line in the file. */
const describe = (error: unknown): string =>
  describeFailure(error, (frame) => frame.includes(file) || frame.includes(fileURLToPath(file)));

void work();
