import type { KubeObject } from "../../../../base/api/object.ts";
import type { Clock } from "../../../../base/util/clock.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { conditionOf } from "../../shared/nodes.ts";

/** Lease of coordination.k8s.io/v1, as far as this controller reads it. */
export interface Lease extends KubeObject {
  readonly spec?: { readonly renewTime?: string };
}

/** Upstream: the defaults of --node-monitor-grace-period and --node-startup-grace-period. */
const GRACE_MS = 50_000;
const STARTUP_GRACE_MS = 60_000;

interface Heartbeat {
  /** On the monotonic clock. Times in objects come from other clocks. */
  heardMs: number;
  /** `lastHeartbeatTime` of the condition Ready. */
  statusTime: string | undefined;
  hasStatus: boolean;
  renewTime: string | undefined;
}

/**
 * When each node last posted its status or renewed its Lease. A heartbeat costs the same, however many nodes there are.
 *
 * Upstream: nodeHealthMap
 */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #known = new Map<string, Heartbeat>();
  /** Nodes with a status, the one that was heard of least recently first. */
  readonly #order = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  observeNode(node: Node, lease: Lease | undefined): void {
    const { name = "", creationTimestamp = "" } = node.metadata;
    const ready = conditionOf(node, "Ready");
    const known = this.#known.get(name);
    const [hasStatus, statusTime] = [ready !== undefined, ready?.lastHeartbeatTime];
    if (known === undefined) {
      const isNew = !hasStatus && lease === undefined;
      const ageMs = isNew ? this.#clock.now() - Date.parse(creationTimestamp) : 0;
      const heardMs = this.#clock.monotonic() - ageMs;
      this.#hear(name, { heardMs, hasStatus, statusTime, renewTime: lease?.spec?.renewTime });
    } else if (known.hasStatus !== hasStatus || known.statusTime !== statusTime) {
      this.#hear(name, { ...known, heardMs: this.#clock.monotonic(), hasStatus, statusTime });
    }
  }

  observeLease({ metadata: { name = "" }, spec: { renewTime = "" } = {} }: Lease): void {
    const known = this.#known.get(name);
    if (known === undefined || renewTime <= (known.renewTime ?? "")) return;
    this.#hear(name, { ...known, heardMs: this.#clock.monotonic(), renewTime });
  }

  forget(name: string): void {
    this.#known.delete(name);
    this.#order.delete(name);
  }

  /** Gives all nodes time, because the control plane was cut off from them. */
  restart(): void {
    const heardMs = this.#clock.monotonic();
    for (const [name, known] of this.#known) this.#hear(name, { ...known, heardMs });
  }

  /** Milliseconds until a node counts as silent. 0 if it is silent already. */
  restMs(name: string): number {
    const known = this.#known.get(name);
    if (known === undefined) return 0;
    const graceMs = known.hasStatus ? GRACE_MS : STARTUP_GRACE_MS;
    return restOf(known.heardMs + graceMs, this.#clock.monotonic());
  }

  /** The nodes with a status that have become silent since the last call. */
  *takeSilent(): Generator<string> {
    const now = this.#clock.monotonic();
    for (const [name, heardMs] of this.#order) {
      if (restOf(heardMs + GRACE_MS, now) > 0) return;
      this.#order.delete(name);
      yield name;
    }
  }

  /** Milliseconds until `takeSilent` may have a result. Undefined if there is no node. */
  nextMs(): number | undefined {
    for (const heardMs of this.#order.values()) return restOf(heardMs + GRACE_MS, this.#clock.monotonic());
    return undefined;
  }

  #hear(name: string, heartbeat: Heartbeat): void {
    this.#known.set(name, heartbeat);
    this.#order.delete(name);
    if (heartbeat.hasStatus) this.#order.set(name, heartbeat.heardMs);
  }
}

/** The grace period must be over, not just end. */
const restOf = (endMs: number, nowMs: number): number => Math.max(0, endMs + 1 - nowMs);
