import { Writable } from "node:stream";
import type { Clock } from "../../../base/util/clock.ts";
import type { Container, HTTPGetAction, Probe } from "../../../kinds/types/container.ts";
import type {
  CommandContext,
  ContainerDefinition,
  ContainerState,
} from "../../../serving/connect/handlers/container-functions.ts";
import type { ContainerInstance, Health } from "./behaviour.ts";
import { ContainerProbe, type ProbeResult } from "./container-probe.ts";

type Kind = "startup" | "readiness" | "liveness";
type Check = () => ProbeResult | Promise<ProbeResult>;

const OWN: Readonly<Record<Kind, "started" | "ready" | "healthy">> = {
  startup: "started",
  readiness: "ready",
  liveness: "healthy",
};
const TITLES: Readonly<Record<Kind, string>> = { startup: "Startup", readiness: "Readiness", liveness: "Liveness" };

/** The container that is probed, as its functions see it. */
export interface Probed {
  readonly state: ContainerState;
  commandContext(): Promise<CommandContext>;
}

/** What the probes of a container with functions find out. Probes without a function succeed at once. */
export class FunctionProbes {
  readonly #instance: ContainerInstance;
  readonly #definition: ContainerDefinition;
  readonly #clock: Clock;
  readonly #probed: Probed;
  readonly #probes: ContainerProbe[] = [];
  #health: Health = { isStarted: false, isReady: false };

  constructor(instance: ContainerInstance, definition: ContainerDefinition, clock: Clock, probed: Probed) {
    this.#instance = instance;
    this.#definition = definition;
    this.#clock = clock;
    this.#probed = probed;
    if (instance.resumed) this.#health = { ...instance.resumed };
    if (this.#health.isStarted) this.#begin();
    else this.#add("startup", (isSuccess) => (isSuccess ? this.#begin() : this.#set({ failed: "startup" })));
  }

  get health(): Health {
    return this.#health;
  }

  close(): void {
    for (const probe of this.#probes) probe.close();
  }

  /** The container has started: the other probes begin. */
  #begin(): void {
    this.#set({ isStarted: true });
    this.#add("readiness", (isReady) => this.#set({ isReady }));
    this.#add("liveness", (isSuccess) => {
      if (!isSuccess) this.#set({ failed: "liveness" });
    });
  }

  #set(change: Partial<Health>): void {
    const before = this.#health;
    this.#health = { ...before, ...change };
    const { isStarted, isReady, failed } = this.#health;
    const isSame = before.isStarted === isStarted && before.isReady === isReady && before.failed === failed;
    if (!isSame) this.#instance.changed();
  }

  #add(kind: Kind, changed: (isSuccess: boolean) => void): void {
    const { container, record } = this.#instance;
    const spec = container[`${kind}Probe`];
    const check = this.#check(kind, spec);
    if (check === undefined) {
      changed(true);
      return;
    }
    const failed = (output: string) => record("Warning", "Unhealthy", `${TITLES[kind]} probe failed: ${output}`);
    const probe = new ContainerProbe({ spec, check, clock: this.#clock, changed, failed });
    this.#probes.push(probe);
    probe.start();
  }

  #check(kind: Kind, spec: Probe | undefined): Check | undefined {
    const { http, exec } = this.#definition;
    const own = this.#definition[OWN[kind]];
    if (own) return () => asResult(own(this.#probed.state));
    if (spec?.httpGet && http)
      return () => checkHttp(http, spec.httpGet ?? {}, this.#instance.container, this.#probed.state);
    if (spec?.exec && exec) return () => this.#checkExec(exec, spec.exec?.command ?? []);
    return undefined;
  }

  async #checkExec(exec: NonNullable<ContainerDefinition["exec"]>, command: readonly string[]): Promise<ProbeResult> {
    const { pod, container } = this.#probed.state;
    let output = "";
    const stream = new Writable({
      write(chunk, _encoding, done) {
        output += String(chunk);
        done();
      },
    });
    const streams = { tty: false, stdin: undefined, stdout: stream, stderr: stream, onResize: () => {} };
    const { signal } = new AbortController();
    const request = { pod, container, command, ...streams, signal };
    const code = await exec(request, await this.#probed.commandContext());
    return typeof code === "number" && code !== 0 ? output : undefined;
  }
}

function asResult(answer: boolean | Promise<boolean>): ProbeResult | Promise<ProbeResult> {
  const read = (isSuccess: boolean) => (isSuccess ? undefined : "the function returned false");
  return answer instanceof Promise ? answer.then(read) : read(answer);
}

async function checkHttp(
  http: NonNullable<ContainerDefinition["http"]>,
  { path = "/", port = 80, httpHeaders = [] }: HTTPGetAction,
  { ports = [] }: Container,
  state: ContainerState,
): Promise<ProbeResult> {
  const number = typeof port === "number" ? port : (ports.find(({ name }) => name === port)?.containerPort ?? 80);
  const headers = httpHeaders.map(({ name = "", value = "" }): [string, string] => [name, value]);
  const { status } = await http(new Request(`http://localhost:${number}${path}`, { headers }), state);
  return status >= 200 && status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`;
}
