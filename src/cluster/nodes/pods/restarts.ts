import { printDuration } from "../../../base/go/duration.ts";
import type { Container, ContainerRestartRule } from "../../../kinds/types/container.ts";
import type { ContainerStatus } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";

const FIRST_MS = 10_000;
const MAX_MS = 300_000;
/** After so long without a restart the delay begins anew. */
const RESET_MS = 2 * MAX_MS;

/** The rule that an exit code matches. Upstream: FindMatchingContainerRestartRule */
export function ruleFor({ restartPolicyRules = [] }: Container, exitCode: number): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes: { operator, values = [] } = {} }) =>
    operator === "In" ? values.includes(exitCode) : !values.includes(exitCode),
  );
}

/** Whether a container that has exited runs again. Upstream: ContainerShouldRestart */
export function restarts(container: Container, { spec = {} }: Pod, exitCode: number): boolean {
  const { action } = ruleFor(container, exitCode) ?? {};
  if (action === "Restart" || action === "RestartAllContainers") return true;
  const policy = container.restartPolicy ?? spec.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** The delay of a kubelet after `before`: 10 s, doubled each time up to 5 min. */
export const nextDelayMs = (before: number | undefined): number =>
  before === undefined ? FIRST_MS : Math.min(2 * before, MAX_MS);

interface Backoff {
  readonly delayMs: number;
  readonly sinceMs: number;
}

/**
 * Delays between restarts of the containers of one Pod: none, then 10 s, doubled each time up to 5 min. Upstream:
 * doBackOff and flowcontrol.Backoff
 */
export class Backoffs {
  readonly #byName = new Map<string, Backoff>();

  /** Milliseconds until a container may start again after it exited, 0 if now. */
  restMs(name: string, status: ContainerStatus, nowMs: number): number {
    const finishedMs = finishedMsOf(status);
    const known = this.#of(name, status);
    if (known === undefined || finishedMs - known.sinceMs > RESET_MS) return 0;
    return Math.max(0, finishedMs + known.delayMs - nowMs);
  }

  /** The delay before the next restart. */
  delayMs(name: string): number {
    return this.#byName.get(name)?.delayMs ?? 0;
  }

  /** Notes that the container starts again now. */
  restarted(name: string, status: ContainerStatus, nowMs: number): void {
    const known = this.#of(name, status);
    const isReset = known === undefined || finishedMsOf(status) - known.sinceMs > RESET_MS;
    const delayMs = nextDelayMs(isReset ? undefined : known.delayMs);
    this.#byName.set(name, { delayMs, sinceMs: nowMs });
  }

  /** After a restart of the server, the delay follows from the number of restarts. */
  #of(name: string, status: ContainerStatus): Backoff | undefined {
    const known = this.#byName.get(name);
    const { restartCount = 0 } = status;
    if (known || restartCount === 0) return known;
    const { startedAt } = terminatedOf(status);
    const delayMs = Math.min(FIRST_MS * 2 ** (restartCount - 1), MAX_MS);
    const derived = { delayMs, sinceMs: Date.parse(startedAt ?? "") || 0 };
    this.#byName.set(name, derived);
    return derived;
  }
}

/** How the last instance of a container ended. */
export function terminatedOf({ state, lastState }: ContainerStatus) {
  return state?.terminated ?? lastState?.terminated ?? {};
}

const finishedMsOf = (status: ContainerStatus) => Date.parse(terminatedOf(status).finishedAt ?? "") || 0;

/** `NAME_NAMESPACE(UID)`, as a kubelet refers to Pods in messages. */
export function podText({ metadata: { name, namespace, uid } }: Pod): string {
  return `${name}_${namespace}(${uid})`;
}

/** A delay as Go prints it, such as `1m20s`. */
export const printDelay = (ms: number): string => printDuration(BigInt(ms) * 1_000_000n);
