import type { Duplex } from "node:stream";
import { badRequest, internalError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { CommandRequest } from "../../../serving/connect/handlers/command-request.ts";
import type { LogRequest, PodHandlers } from "../../../serving/connect/handlers/handlers.ts";
import { FunctionProcess } from "../behaviour/function-process.ts";
import type { UsageSource } from "../metrics/container-usage.ts";
import type { RunningPods } from "../nodes-context.ts";
import { containerStatuses, isRunning, podContainers } from "../pods/containers.ts";
import { serveHttp } from "./serve-http.ts";

/** Answers for the kubelets of simulated nodes: logs, exec, attach and ports of their Pods. */
export class SimulatedKubelets {
  #pods: RunningPods | undefined;
  #usage: UsageSource | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The nodes that run in this server now. Undefined if it does not simulate nodes. `usage` tells what containers use
   * whose functions do not.
   */
  serve(pods: RunningPods | undefined, usage?: UsageSource): void {
    this.#pods = pods;
    this.#usage = usage;
  }

  /** The handlers of a Pod on a simulated node. Undefined for all others. */
  handlersOf(object: KubeObject): PodHandlers | undefined {
    const pod = object as Pod;
    const pods = this.#pods;
    if (!pods?.isSimulated(pod)) return undefined;
    if (!pods.isReachable(pod)) throw internalError(`node ${pod.spec?.nodeName} is disconnected`);
    const processOf = (name: string) => pods.process(pod, name);
    return {
      log: (request) => this.#log(pods, pod, request),
      exec: (request) => exec(pod, processOf(request.container), request),
      attach: (request) => this.#attach(processOf(request.container), pod, request),
      port: (port, connection) => servePort(pod, port, connection, processOf),
    };
  }

  /** What tells the usage of containers: their functions first. */
  readonly usageSources: readonly UsageSource[] = [
    ({ pod, name }) => {
      const process = this.#pods?.process(pod, name);
      return process instanceof FunctionProcess ? process.usage() : undefined;
    },
    (container) => this.#usage?.(container),
  ];

  #log(pods: RunningPods, pod: Pod, request: LogRequest): AsyncIterable<string> | Iterable<string> {
    const { container, previous } = request;
    const { state, lastState } = containerStatuses(pod).get(container) ?? {};
    const name = `container ${quote(container)} in pod ${quote(pod.metadata.name ?? "")}`;
    if (previous && !lastState?.terminated) throw badRequest(`previous terminated ${name} not found`);
    if (!state?.running && !state?.terminated && !lastState?.terminated) {
      throw badRequest(`${name} is waiting to start: ${state?.waiting?.reason ?? "ContainerCreating"}`);
    }
    const process = previous ? pods.previousProcess(pod, container) : pods.process(pod, container);
    if (process instanceof FunctionProcess) return process.log.read(request, this.#clock.now());
    return [`${simulatedText(pod, container)} It writes no log.\n`];
  }

  async #attach(process: unknown, pod: Pod, request: CommandRequest): Promise<number | undefined> {
    if (!(process instanceof FunctionProcess)) throw new Error(`${simulatedText(pod, request.container)} ${HINT}`);
    const { attach } = process.definition;
    if (attach) return (await attach(request)) ?? 0;
    const { stdout, signal } = request;
    for await (const line of process.log.read({ follow: true, tailLines: 0, signal }, this.#clock.now())) {
      stdout?.write(line);
    }
    return 0;
  }
}

const HINT = "Attach a function to its image: see docs/simulated-nodes.md.";

function simulatedText(pod: Pod, name: string): string {
  const image = podContainers(pod).find((one) => one.name === name)?.container.image ?? "";
  return `container ${quote(name)} of image ${quote(image)} is simulated: no program runs in it.`;
}

async function exec(pod: Pod, process: unknown, request: CommandRequest): Promise<number | undefined> {
  if (!isRunning(containerStatuses(pod).get(request.container))) {
    throw badRequest(`container not found (${quote(request.container)})`);
  }
  const run = process instanceof FunctionProcess ? process.definition.exec : undefined;
  if (!(process instanceof FunctionProcess) || run === undefined) {
    throw new Error(`${simulatedText(pod, request.container)} ${HINT}`);
  }
  const result = await run(request, await process.commandContext());
  if (typeof result !== "string") return result ?? 0;
  request.stdout?.write(result);
  return 0;
}

/** Serves a port with the function of the container that declares it, or of the first one that serves HTTP. */
async function servePort(
  pod: Pod,
  port: number,
  connection: Duplex,
  processOf: (container: string) => unknown,
): Promise<void> {
  const candidates = podContainers(pod).toSorted((one, other) => Number(declares(other)) - Number(declares(one)));
  function declares({ container: { ports = [] } }: (typeof candidates)[number]): boolean {
    return ports.some(({ containerPort }) => containerPort === port);
  }
  for (const { name } of candidates) {
    const process = processOf(name);
    const http = process instanceof FunctionProcess && !process.exit ? process.definition.http : undefined;
    if (http && process instanceof FunctionProcess)
      return serveHttp(connection, (request) => http(request, process.state));
  }
  throw new Error(`nothing listens on port ${port} of pod ${pod.metadata.name}: it is simulated. ${HINT}`);
}
