import { readDuration } from "../../../base/go/duration.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type {
  CommandContext,
  ContainerContext,
  ContainerDefinition,
  ContainerExit,
  ContainerState,
  ContainerUsage,
} from "../../../serving/connect/handlers/container-functions.ts";
import { messageOf } from "../../controllers/shared/controller.ts";
import type { ContainerInstance, ContainerProcess, Exit, Health } from "./behaviour.ts";
import { containerEnv, type EnvAccess } from "./container-env.ts";
import { type FunctionCall, functionCall } from "./function-calls.ts";
import { FunctionProbes } from "./function-probes.ts";
import { LogBuffer } from "./log-buffer.ts";

/** What the functions of containers depend on. */
export interface FunctionContext {
  readonly clock: Clock;
  readonly access: EnvAccess;
}

const KILLED = 137;
const TERMINATED = 143;

/** Thrown by `sleep` when the container is stopped. */
class ContainerStopped extends Error {}

/** A container whose work a function does. */
export class FunctionProcess implements ContainerProcess {
  readonly log: LogBuffer = new LogBuffer();
  readonly definition: ContainerDefinition;
  exit: Exit | undefined;
  readonly #instance: ContainerInstance;
  readonly #context: FunctionContext;
  readonly #stopping = new AbortController();
  #isStopping = false;
  readonly #probes: FunctionProbes;

  constructor(instance: ContainerInstance, definition: ContainerDefinition, context: FunctionContext) {
    this.#instance = instance;
    this.definition = definition;
    this.#context = context;
    this.#probes = new FunctionProbes(instance, definition, context.clock, this);
    void this.#run();
  }

  /** The container as functions see it. */
  get state(): ContainerState {
    const { pod, container, startedMs, restartCount } = this.#instance;
    const { name = "", image = "" } = container;
    return { pod, container: name, image, restartCount, since: this.#context.clock.now() - startedMs };
  }

  /** The container as commands see it. */
  async commandContext(): Promise<CommandContext> {
    return { ...this.state, env: await this.#env() };
  }

  /** What the function uses now. Undefined if it does not tell. Throws what the function throws, and logs it. */
  usage(): ContainerUsage | undefined {
    try {
      return this.definition.usage?.(this.state);
    } catch (error) {
      this.#logError(error);
      throw error;
    }
  }

  health(): Health {
    return this.#probes.health;
  }

  stop(nowMs: number, graceMs: number): void {
    if (this.exit && this.exit.atMs <= nowMs) return;
    const atMs = nowMs + graceMs;
    // A second request may shorten the time, but not lengthen it.
    if (this.exit === undefined || atMs < this.exit.atMs) this.exit = { atMs, code: KILLED };
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { container } = this.#instance;
    const hook = functionCall(this.definition, container.lifecycle?.preStop ?? {}, container, this);
    if (hook === undefined) this.#signal();
    else void this.#runHook(hook).then(() => this.#signal());
  }

  /** Upstream: executePreStopHook. The Event does not say why it failed. */
  async #runHook(hook: FunctionCall): Promise<void> {
    const problem = await hook.run().catch((error: unknown) => messageOf(error));
    if (problem !== undefined) this.#instance.record("Warning", "FailedPreStopHook", "PreStopHook failed");
  }

  /** Lets the function end. A container without one ends at once. */
  #signal(): void {
    this.#stopping.abort();
    if (this.definition.run === undefined) this.#end({ code: 0 });
  }

  close(): void {
    this.#stopping.abort();
    this.#probes.close();
    this.log.close();
  }

  /** Notes the exit of the function, unless the container has been killed before. */
  #end(exit: ContainerExit): void {
    const nowMs = this.#context.clock.now();
    const isKilled = this.exit !== undefined && this.exit.atMs <= nowMs;
    if (!isKilled) this.exit = { ...exit, atMs: nowMs };
    this.#probes.close();
    this.log.close();
    this.#instance.changed();
  }

  async #run(): Promise<void> {
    const { run } = this.definition;
    if (run === undefined) return;
    try {
      const result = await run(await this.#functionContext());
      this.#end(typeof result === "object" ? result : { code: result ?? 0 });
    } catch (error) {
      if (error instanceof ContainerStopped) return this.#end({ code: TERMINATED });
      this.#logError(error);
      this.#end({ code: 1 });
    }
  }

  async #functionContext(): Promise<ContainerContext> {
    const { container } = this.#instance;
    const { since: _, ...state } = this.state;
    return {
      ...state,
      command: container.command ?? [],
      args: container.args ?? [],
      env: await this.#env(),
      log: (text) => this.#write(text),
      sleep: (span) => this.#sleep(span),
      signal: this.#stopping.signal,
    };
  }

  #env(): Promise<Record<string, string>> {
    const { pod, container, place } = this.#instance;
    return containerEnv(this.#context.access, pod, container, place);
  }

  #logError(error: unknown): void {
    this.#write(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #write(text: string): void {
    this.log.add(text, this.#context.clock.now());
  }

  async #sleep(span: number | string): Promise<void> {
    const { signal } = this.#stopping;
    await this.#context.clock.sleep(spanMs(span), signal);
    if (signal.aborted) throw new ContainerStopped("the container was stopped");
  }
}

function spanMs(span: number | string): number {
  if (typeof span === "number") return span;
  const nanoseconds = readDuration(span);
  if (typeof nanoseconds === "string") throw new RangeError(`expected milliseconds or a text such as 20m, got ${span}`);
  return Number(nanoseconds / 1_000_000n);
}
