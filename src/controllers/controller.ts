import { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../api/object.ts";
import type { Clock } from "../lib/clock.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { ObjectClient } from "../resources/object-client.ts";
import type { Resources } from "../resources/resources.ts";

/** A loop that the server itself runs. */
export interface Controller {
  readonly name: string;
  /** Names by which it can be selected, too. */
  readonly aliases?: readonly string[];
  /** Works until the signal aborts, then ends what it had begun and resolves. May be called again after it has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** What a loop works with. */
export interface ControllerContext {
  /** For reads, which need not pass the pipeline. */
  readonly resources: Resources;
  /** For every write, under the identity of the loop. */
  readonly client: ObjectClient;
  readonly report: ReportProblem;
}

/** Learns what went wrong in a controller; it is tried again in any case. */
export type ReportProblem = (controller: string, error: unknown) => void;

/** Creates an object unless it exists. */
export async function ensureObject(
  { resources, client }: ControllerContext,
  resource: ServedResource,
  object: KubeObject,
): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  if (await resources.peek(resource, { namespace, name })) return;
  // Another replica may start at the same moment.
  await client.create(resource, object).catch(unlessCode(409));
}

/** For `catch`: passes over refusals with one of these codes, and throws everything else. */
export function unlessCode(...codes: readonly number[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiError && codes.includes(error.code))) throw error;
  };
}

const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** A controller that has run for so long is no longer counted as failing in a row. */
const STABLE_MS = 60_000;

/** Runs all of them until the signal aborts. One that fails is reported and started anew, ever later if it fails again. */
export async function runControllers(
  controllers: readonly Controller[],
  signal: AbortSignal,
  clock: Clock,
  report: ReportProblem,
): Promise<void> {
  await Promise.all(controllers.map((controller) => keepRunning(controller, signal, clock, report)));
}

async function keepRunning(
  controller: Controller,
  signal: AbortSignal,
  clock: Clock,
  report: ReportProblem,
): Promise<void> {
  let delayMs = MIN_RESTART_MS;
  while (!signal.aborted) {
    const startedMs = clock.monotonic();
    try {
      await controller.run(signal);
      if (signal.aborted) return;
      report(controller.name, new Error("the controller ended by itself"));
    } catch (error) {
      if (signal.aborted) return;
      report(controller.name, error);
    }
    if (clock.monotonic() - startedMs > STABLE_MS) delayMs = MIN_RESTART_MS;
    await clock.sleep(delayMs, signal);
    delayMs = Math.min(MAX_RESTART_MS, delayMs * 2);
  }
}

/**
 * The controllers that `--controllers` asks for: `*` all, `name` that one, `-name` all but that one, `none` or nothing
 * no one. The first mention of a name decides. Throws when it names an unknown one.
 */
export function selectControllers<T extends Named>(all: readonly T[], flag: string): T[] {
  const items = flag
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  for (const item of items) {
    const name = item.replace(/^-/, "");
    const isKnown = item === "*" || item === "none" || all.some((controller) => isCalled(controller, name));
    if (!isKnown) {
      const known = all.map((controller) => controller.name).join(", ");
      throw new Error(`${JSON.stringify(name)} is not in the list of known controllers: ${known}`);
    }
  }
  return all.filter((controller) => {
    const choice = items.find((item) => isCalled(controller, item.replace(/^-/, "")));
    return choice === undefined ? items.includes("*") : !choice.startsWith("-");
  });
}

type Named = Pick<Controller, "name" | "aliases">;

function isCalled(controller: Named, name: string): boolean {
  return controller.name === name || (controller.aliases?.includes(name) ?? false);
}
