import { ApiError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { suggestion } from "../../../base/util/suggestion.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import type { Resources } from "../../../resources/resources.ts";

/** A controller that the server itself runs. */
export interface Controller {
  readonly name: string;
  /**
   * Works until the signal aborts, then finishes its pending work and resolves. May be called again after it has ended.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** A controller that does nothing, for one that a setting switches off. */
export function idleController(name: string): Controller {
  const run = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  return { name, run };
}

/** What a controller works with. */
export interface ControllerContext {
  /** For reads, which bypass the request pipeline. */
  readonly resources: Resources;
  /** For all writes, with the identity of the controller. */
  readonly client: ObjectClient;
  readonly report: ReportProblem;
  /** The store may lack objects of the cluster that it stands for, as with a dump of some kinds. */
  readonly isPartial?: boolean;
}

/** Receives errors of a controller. The controller is retried in any case. */
export type ReportProblem = (controller: string, error: unknown) => void;

/** Creates an object unless it exists. */
export async function ensureObject(
  { resources, client }: ControllerContext,
  resource: ServedResource,
  object: KubeObject,
): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  if (await resources.peek(resource, { namespace, name })) return;
  // Another replica may start at the same time.
  await client.create(resource, object).catch(unlessCode(409));
}

/** For `catch`: ignores ApiErrors with one of these codes, and throws everything else. */
export function unlessCode(...codes: readonly number[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ApiError && codes.includes(error.code))) throw error;
  };
}

const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** After running this long, a controller's backoff is reset. */
const STABLE_MS = 60_000;

/**
 * Runs all controllers until the signal aborts. A failed controller is reported and restarted with exponential backoff.
 */
export async function runControllers(
  controllers: readonly Controller[],
  signal: AbortSignal,
  clock: Clock,
  report: ReportProblem,
): Promise<void> {
  await Promise.all(controllers.map((controller) => keepRunning(controller, signal, clock, report)));
}

/** Runs a controller until the signal aborts, again after each failure. */
export async function keepRunning(
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
      report(controller.name, new Error("the controller stopped unexpectedly"));
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
 * The controllers that `--controllers` selects: `*` all but optional ones, `name` that one, `-name` all but that one, `none` or an empty
 * text no controller. The first occurrence of a name decides. Throws an Error for an unknown name.
 */
export function selectControllers<T extends Named>(all: readonly T[], flag: string): T[] {
  const items = flag
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  for (const item of items) {
    const name = item.replace(/^-/, "");
    const isKnown = item === "*" || item === "none" || all.some((controller) => isCalled(controller, name));
    if (isKnown) continue;
    const known = all.flatMap((controller) => [controller.name, ...(controller.aliases ?? [])]);
    const hint = suggestion(name, known);
    throw new Error(`${JSON.stringify(name)} is not in the list of known controllers${hint}`);
  }
  return all.filter((controller) => {
    const choice = items.find((item) => isCalled(controller, item.replace(/^-/, "")));
    return choice === undefined ? items.includes("*") && !controller.isOptional : !choice.startsWith("-");
  });
}

/** What `selectControllers` selects by. */
export interface Named {
  readonly name: string;
  /** Other names by which it can be selected. */
  readonly aliases?: readonly string[];
  /** `*` does not select it, only its name. Upstream: `isDisabledByDefault`. */
  readonly isOptional?: boolean;
}

function isCalled(controller: Named, name: string): boolean {
  return controller.name === name || (controller.aliases?.includes(name) ?? false);
}

/** Whether an error is a Status with one of these codes. */
export function isStatus(error: unknown, ...codes: readonly number[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code);
}

/** Whether a create failed because its Namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!isStatus(error, 403)) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

/** The text of an error in Events and conditions. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
