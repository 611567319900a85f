import type { Clock } from "../../../../base/util/clock.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { isNodeReady } from "../../shared/nodes.ts";

/** Upstream: ZoneState. */
type ZoneState = "Initial" | "Normal" | "PartialDisruption" | "FullDisruption";

/** What a change of zones means for the whole cluster: all of them are fully disrupted, or not any more. */
export type Turn = "lost" | "regained";

interface Zone {
  readyNodes: number;
  otherNodes: number;
  state: ZoneState;
  /** Nodes to evict Pods from, in order. */
  readonly waiting: Set<string>;
  perSecond: number;
  /** When the rate allows the next one, on the monotonic clock. */
  nextMs: number;
  /** When the first of the waiting nodes may be taken at the earliest. */
  notBeforeMs: number;
}

/** Upstream: the defaults of --node-eviction-rate, --secondary-node-eviction-rate and so on. */
const RATE = 0.1;
const SECONDARY_RATE = 0.01;
const UNHEALTHY_THRESHOLD = 0.55;
const LARGE_ZONE = 50;
/** Upstream: NodeEvictionPeriod. Nodes that fail together show it before the first of them is tainted. */
const PERIOD_MS = 100;

const EXCLUDED = "node.kubernetes.io/exclude-disruption";

/** The zones of the nodes, how many of their nodes are ready, and the rate at which Pods may be evicted there. */
export class Zones {
  readonly #clock: Clock;
  readonly #zones = new Map<string, Zone>();
  readonly #zoneOfWaiting = new Map<string, Zone>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a node. `before` is undefined for a new one, `after` for one that is gone. */
  change(before: Node | undefined, after: Node | undefined): void {
    if (before) this.#count(before, -1);
    if (after) this.#count(after, 1);
  }

  #count(node: Node, by: number): void {
    if (node.metadata.labels?.[EXCLUDED] !== undefined) return;
    const zone = this.#zoneOf(node);
    if (isNodeReady(node)) zone.readyNodes += by;
    else zone.otherNodes += by;
  }

  #zoneOf(node: Node): Zone {
    const key = zoneKeyOf(node);
    let zone = this.#zones.get(key);
    if (zone === undefined) {
      const counts = { readyNodes: 0, otherNodes: 0, state: "Initial" as const };
      zone = { ...counts, waiting: new Set(), perSecond: RATE, nextMs: this.#clock.monotonic(), notBeforeMs: 0 };
      this.#zones.set(key, zone);
    }
    return zone;
  }

  /**
   * Sets the states of the zones and their rates.
   *
   * Upstream: handleDisruption
   */
  assess(): Turn | undefined {
    const zones = [...this.#zones.values()].filter(({ readyNodes, otherNodes }) => readyNodes + otherNodes > 0);
    const wasLost = zones.every(({ state }) => state === "FullDisruption");
    const isLost = zones.every((zone) => stateOf(zone) === "FullDisruption");
    if (wasLost && isLost) return undefined;
    for (const zone of zones) {
      const state = stateOf(zone);
      if (!isLost && !wasLost && zone.state === state) continue;
      zone.state = state;
      this.#setRate(zone, isLost ? 0 : rateOf(zone));
    }
    if (wasLost === isLost) return undefined;
    return isLost ? "lost" : "regained";
  }

  /** Upstream: SwapLimiter. If the old rate makes nodes wait, the new one begins with a wait, too. */
  #setRate(zone: Zone, perSecond: number): void {
    if (zone.perSecond === perSecond) return;
    const now = this.#clock.monotonic();
    const isWaiting = zone.perSecond === 0 || zone.nextMs > now;
    zone.nextMs = isWaiting ? now + 1000 / perSecond : now;
    zone.perSecond = perSecond;
  }

  /** Lets a node wait until Pods may be evicted from it. */
  request(node: Node): void {
    const { name = "" } = node.metadata;
    const zone = this.#zoneOf(node);
    if (this.#zoneOfWaiting.get(name) === zone) return;
    this.cancel(name);
    if (zone.waiting.size === 0) zone.notBeforeMs = this.#clock.monotonic() + PERIOD_MS;
    zone.waiting.add(name);
    this.#zoneOfWaiting.set(name, zone);
  }

  cancel(name: string): void {
    this.#zoneOfWaiting.get(name)?.waiting.delete(name);
    this.#zoneOfWaiting.delete(name);
  }

  /** The nodes from which Pods may be evicted now. Each is returned once. */
  *takeAllowed(): Generator<string> {
    const now = this.#clock.monotonic();
    for (const zone of this.#zones.values()) {
      const [name] = zone.waiting;
      if (name === undefined || zone.perSecond === 0 || dueMs(zone) > now) continue;
      zone.nextMs = now + 1000 / zone.perSecond;
      this.cancel(name);
      yield name;
    }
  }

  /** Milliseconds until `takeAllowed` has a result. Undefined if no node waits for that. */
  nextMs(): number | undefined {
    let next: number | undefined;
    for (const zone of this.#zones.values()) {
      const isWaiting = zone.waiting.size > 0 && zone.perSecond > 0;
      if (isWaiting && (next === undefined || dueMs(zone) < next)) next = dueMs(zone);
    }
    return next === undefined ? undefined : Math.max(0, next - this.#clock.monotonic());
  }
}

const dueMs = ({ nextMs, notBeforeMs }: Zone): number => Math.max(nextMs, notBeforeMs);

/** Upstream: ComputeZoneState */
function stateOf({ readyNodes, otherNodes }: Zone): ZoneState {
  if (readyNodes === 0) return "FullDisruption";
  const isPartial = otherNodes > 2 && otherNodes / (otherNodes + readyNodes) >= UNHEALTHY_THRESHOLD;
  return isPartial ? "PartialDisruption" : "Normal";
}

/** Upstream: ReducedQPSFunc and HealthyQPSFunc */
function rateOf({ state, readyNodes, otherNodes }: Zone): number {
  if (state !== "PartialDisruption") return RATE;
  return readyNodes + otherNodes > LARGE_ZONE ? SECONDARY_RATE : 0;
}

/** Compat: GetZoneKey prefers the deprecated labels. */
function zoneKeyOf({ metadata: { labels = {} } }: Node): string {
  const labelOf = (name: string) =>
    labels[`failure-domain.beta.kubernetes.io/${name}`] ?? labels[`topology.kubernetes.io/${name}`] ?? "";
  return JSON.stringify([labelOf("region"), labelOf("zone")]);
}
