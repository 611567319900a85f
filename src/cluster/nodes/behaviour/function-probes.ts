import type { Clock } from "../../../base/util/clock.ts";
import type { Probe } from "../../../kinds/types/container.ts";
import type { ContainerDefinition } from "../../../serving/connect/handlers/container-functions.ts";
import type { ContainerInstance, Health } from "./behaviour.ts";
import { ContainerProbe, type ProbeResult } from "./container-probe.ts";
import { type CalledContainer, type FunctionCall, functionCall } from "./function-calls.ts";

type Kind = "startup" | "readiness" | "liveness";
type Check = Pick<FunctionCall, "late"> & { run(): ProbeResult | Promise<ProbeResult> };

const OWN: Readonly<Record<Kind, "started" | "ready" | "healthy">> = {
  startup: "started",
  readiness: "ready",
  liveness: "healthy",
};
const TITLES: Readonly<Record<Kind, string>> = { startup: "Startup", readiness: "Readiness", liveness: "Liveness" };

/** What the probes of a container with functions find out. Probes without a function succeed at once. */
export class FunctionProbes {
  readonly #instance: ContainerInstance;
  readonly #definition: ContainerDefinition;
  readonly #clock: Clock;
  readonly #probed: CalledContainer;
  readonly #probes: ContainerProbe[] = [];
  #health: Health = { isStarted: false, isReady: false };

  constructor(instance: ContainerInstance, definition: ContainerDefinition, clock: Clock, probed: CalledContainer) {
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
    const late = check.late(spec?.timeoutSeconds ?? 1);
    const isFinal = (isSuccess: boolean) => kind === "startup" || (kind === "liveness" && !isSuccess);
    const shared = { spec, changed, failed, isFinal, late, clock: this.#clock };
    const probe = new ContainerProbe({ ...shared, check: () => check.run() });
    this.#probes.push(probe);
    probe.start(this.#probed.state.since);
  }

  #check(kind: Kind, spec: Probe | undefined): Check | undefined {
    const own = this.#definition[OWN[kind]];
    if (own) return { run: () => asResult(own(this.#probed.state)), late: () => "the function did not return in time" };
    return functionCall(this.#definition, spec ?? {}, this.#instance.container, this.#probed);
  }
}

function asResult(answer: boolean | Promise<boolean>): ProbeResult | Promise<ProbeResult> {
  const read = (isSuccess: boolean) => (isSuccess ? undefined : "the function returned false");
  return answer instanceof Promise ? answer.then(read) : read(answer);
}
