import type { Endpoint, EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { isReadyEndpoint, setHints, unchangedSlices, withHints } from "./hints.ts";
import type { SliceChanges } from "./managed-slices.ts";
import { type Allocation, allocate, isOverloaded, zoneShares } from "./zone-capacity.ts";

/** Endpoints per zone. */
type ZoneCounts = Map<string, number>;

/** An Event about the hints of a Service. */
export interface HintsEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Changes with hints, and what to report about them. */
export interface Hinted {
  readonly changes: SliceChanges;
  readonly events: HintsEvent[];
}

/** Sets the hints of Services with the annotation topology-mode, by the CPUs of the zones. Upstream: TopologyCache */
export class TopologyHints {
  readonly #nodes: () => Iterable<Node>;
  #shares: { readonly value: Map<string, number> | undefined } | undefined;
  /** By the key of a Service, then by address type. */
  readonly #counts = new Map<string, Map<string, ZoneCounts>>();

  constructor(nodes: () => Iterable<Node>) {
    this.#nodes = nodes;
  }

  /** Forgets what is known about Nodes. Returns the keys of Services whose zones are overloaded now. */
  nodesChanged(): string[] {
    this.#shares = undefined;
    if (this.#counts.size === 0) return [];
    const shares = this.#known();
    return [...this.#counts].flatMap(([key, byType]) =>
      [...byType.values()].some((counts) => isOverloaded(counts, shares)) ? [key] : [],
    );
  }

  /** Whether endpoints of a Service have hints. */
  has(key: string): boolean {
    return this.#counts.has(key);
  }

  forget(key: string, addressType?: string): void {
    const byType = this.#counts.get(key);
    if (addressType !== undefined) byType?.delete(addressType);
    if (addressType === undefined || byType?.size === 0) this.#counts.delete(key);
  }

  /** Adds hints to the slices of a Service, or removes them if that is impossible. */
  apply(key: string, addressType: string, changes: SliceChanges, existing: readonly EndpointSlice[]): Hinted {
    const all = [...changes.create, ...changes.update, ...unchangedSlices(changes, existing)];
    const ready = all.flatMap(({ endpoints }) => endpoints ?? []).filter(isReadyEndpoint);
    const disable = (why: string): Hinted => {
      this.forget(key, addressType);
      const message = `${why}, addressType: ${addressType}`;
      const events: HintsEvent[] = [{ type: "Warning", reason: "TopologyAwareHintsDisabled", message }];
      return { changes: setHints(changes, existing, () => undefined), events };
    };
    const allocations = allocate(this.#known(), ready.length);
    if (typeof allocations === "string") return disable(allocations);
    const { kept, outdated } = checkHints(unchangedSlices(changes, existing), allocations);
    const writable = [...changes.create, ...changes.update, ...outdated];
    const counts = new Map(kept);
    for (const { endpoints } of writable) {
      for (const { zone = "", conditions } of endpoints ?? []) {
        if (conditions?.ready !== true) continue;
        if (zone === "") return disable("One or more endpoints do not have a zone specified");
        counts.set(zone, (counts.get(zone) ?? 0) + 1);
      }
    }
    const moves = planMoves(allocations, counts);
    const hinted = (slice: EndpointSlice): EndpointSlice => ({
      ...slice,
      endpoints: (slice.endpoints ?? []).map((endpoint) => withZone(endpoint, moves, counts)),
    });
    if (counts.size === 0) return disable("No hints allocated for zones");
    const events: HintsEvent[] = [];
    if (!this.has(key)) {
      const message = `Topology Aware Hints has been enabled, addressType: ${addressType}`;
      events.push({ type: "Normal", reason: "TopologyAwareHintsEnabled", message });
    }
    const next = {
      ...changes,
      create: changes.create.map(hinted),
      update: [...changes.update, ...outdated].map(hinted),
    };
    this.#counts.set(key, (this.#counts.get(key) ?? new Map()).set(addressType, counts));
    return { changes: next, events };
  }

  /** The shares of the zones. They are computed again after a change of a Node, when they are needed. */
  #known(): Map<string, number> | undefined {
    this.#shares ??= { value: zoneShares(this.#nodes()) };
    return this.#shares.value;
  }
}

/** How many endpoints each zone gives to others, and receives. */
interface Moves {
  readonly giving: Map<string, number>;
  readonly receiving: Map<string, number>;
}

/** The hint of an endpoint: its own zone, or one that receives endpoints. Updates the moves and counts. */
function withZone(endpoint: Endpoint, { giving, receiving }: Moves, counts: ZoneCounts): Endpoint {
  if (!isReadyEndpoint(endpoint)) return endpoint;
  const { zone = "" } = endpoint;
  const [receiver] = receiving.keys();
  const isMoved = receiver !== undefined && giving.has(zone);
  if (isMoved) {
    decrease(giving, zone);
    decrease(receiving, receiver);
    counts.set(receiver, (counts.get(receiver) ?? 0) + 1);
    counts.set(zone, (counts.get(zone) ?? 0) - 1);
  }
  return withHints(endpoint, { forZones: [{ name: isMoved ? receiver : zone }] });
}

function decrease(counts: Map<string, number>, zone: string): void {
  const rest = (counts.get(zone) ?? 0) - 1;
  if (rest > 0) counts.set(zone, rest);
  else counts.delete(zone);
}

/** The hints of unchanged slices that may stay, and the slices whose hints may not. Upstream: getHintsByZone */
function checkHints(slices: readonly EndpointSlice[], allocations: ReadonlyMap<string, Allocation>) {
  const kept: ZoneCounts = new Map();
  const outdated: EndpointSlice[] = [];
  for (const slice of slices) {
    const zones = (slice.endpoints ?? []).filter(isReadyEndpoint).map(({ hints }) => hints?.forZones ?? []);
    const counts = new Map<string, number>();
    for (const { name } of zones.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
    const isTooMany = ([zone, count]: [string, number]) =>
      count + (kept.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? -1);
    if (zones.some((list) => list.length === 0) || [...counts].some(isTooMany)) outdated.push(slice);
    else for (const [zone, count] of counts) kept.set(zone, (kept.get(zone) ?? 0) + count);
  }
  return { kept, outdated };
}

/** Upstream: getGivingAndReceivingZones */
function planMoves(allocations: ReadonlyMap<string, Allocation>, counts: ZoneCounts): Moves {
  const surplus = new Map([...allocations].map(([zone, { desired }]) => [zone, (counts.get(zone) ?? 0) - desired]));
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  const most = (sign: 1 | -1): [string, number] =>
    [...surplus].reduce(
      (best: [string, number], [zone, amount]) => (sign * amount > best[1] ? [zone, sign * amount] : best),
      ["", 0],
    );
  for (;;) {
    const [giver, toGive] = most(1);
    const [receiver, toReceive] = most(-1);
    if (giver === "" || receiver === "" || Math.max(toGive, toReceive) < 1 || Math.min(toGive, toReceive) < 0.5) {
      return { giving, receiving };
    }
    giving.set(giver, (giving.get(giver) ?? 0) + 1);
    receiving.set(receiver, (receiving.get(receiver) ?? 0) + 1);
    surplus.set(giver, (surplus.get(giver) ?? 0) - 1);
    surplus.set(receiver, (surplus.get(receiver) ?? 0) + 1);
  }
}
