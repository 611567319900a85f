import type { KubeObject } from "../../../base/api/object.ts";
import { Meter, TooCostly } from "../../../base/util/meter.ts";
import { type SelectableDevice, selectorMatches } from "../../../kinds/built-in/resource/device-selector.ts";
import type {
  DeviceConfiguration,
  DeviceSelector,
  DeviceTaint,
  ExactRequest,
} from "../../../kinds/built-in/resource/types.ts";
import type { Node } from "../../../kinds/types/node.ts";
import { keyOf } from "../../controllers/shared/informer.ts";
import type { ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import { tolerates } from "../../controllers/shared/taints.ts";
import { ConstraintCheck } from "./device-constraints.ts";
import type { NodeDevice, NodeDevices } from "./device-pools.ts";

/** DeviceClass of resource.k8s.io/v1. */
export interface DeviceClass extends KubeObject {
  spec?: { selectors?: DeviceSelector[]; config?: DeviceConfiguration[] };
}

/** A request of a claim, or one of its alternatives. */
export interface WantedDevices {
  /** `request`, or `request/alternative`. */
  readonly name: string;
  /** The names by which constraints and configurations refer to it. */
  readonly names: readonly string[];
  readonly request: ExactRequest;
  readonly deviceClass: DeviceClass;
  /** Its position among the alternatives of a request. Undefined if there are none. */
  readonly rank: number | undefined;
}

/** A device for a claim. */
export interface AllocatedDevice {
  readonly wanted: WantedDevices;
  readonly device: NodeDevice;
}

/** What an allocator works with. */
export interface AllocatorContext {
  deviceClass(name: string): DeviceClass | undefined;
  /** Whether a claim has the device, other than for administration. */
  isInUse(device: NodeDevice): boolean;
  taintsOf(device: NodeDevice): readonly DeviceTaint[];
}

/** Upstream: AllocationResultsMaxSize */
const MAX_DEVICES = 32;
/** Work for one Pod on all nodes. Upstream: filterTimeout */
const MAX_UNITS = 3_000_000;
const UNITS_PER_DEVICE = 5;

/** Finds devices for the claims of a Pod, node by node. Upstream: structured.Allocator */
export class DeviceAllocator {
  readonly #context: AllocatorContext;
  readonly #claims: readonly ResourceClaim[];
  /** The alternatives of each request of each claim. */
  readonly #wanted: readonly (readonly (readonly WantedDevices[])[])[];
  readonly #meter = new Meter(MAX_UNITS);

  constructor(context: AllocatorContext, claims: readonly ResourceClaim[]) {
    this.#context = context;
    this.#claims = claims;
    this.#wanted = claims.map((claim) => wantedBy(claim, (name) => this.#classOf(claim, name)));
  }

  /** The devices of each claim. Undefined if there are not enough. Throws if a claim or a class is broken. */
  allocate(node: Node, devices: NodeDevices): AllocatedDevice[][] | undefined {
    const search = new Search(this.#context, this.#claims, this.#wanted, devices, this.#meter);
    try {
      return search.run();
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      throw new Error(`node ${node.metadata.name}: timed out trying to allocate devices`);
    }
  }

  #classOf(claim: ResourceClaim, name: string): DeviceClass {
    const found = this.#context.deviceClass(name);
    if (found === undefined) throw new Error(`claim ${keyOf(claim)}: device class ${name} does not exist`);
    return found;
  }
}

function wantedBy({ spec }: ResourceClaim, classOf: (name: string) => DeviceClass): WantedDevices[][] {
  return (spec?.devices?.requests ?? []).map(({ name = "", exactly, firstAvailable = [] }) => {
    const one = (request: ExactRequest, full: string, rank?: number): WantedDevices => {
      const deviceClass = classOf(request.deviceClassName ?? "");
      return { name: full, names: rank === undefined ? [name] : [name, full], request, deviceClass, rank };
    };
    if (exactly) return [one(exactly, name)];
    return firstAvailable.map((request, rank) => one(request, `${name}/${request.name}`, rank));
  });
}

/** An exhaustive search for the devices of one node. The first solution is taken. */
class Search {
  readonly #context: AllocatorContext;
  readonly #claims: readonly ResourceClaim[];
  readonly #wanted: readonly (readonly (readonly WantedDevices[])[])[];
  readonly #found: NodeDevices;
  readonly #meter: Meter;
  readonly #constraints: readonly (readonly ConstraintCheck[])[];
  readonly #results: readonly AllocatedDevice[][];
  /** The devices that each request can use. */
  readonly #candidates = new Map<WantedDevices, readonly NodeDevice[]>();

  constructor(
    context: AllocatorContext,
    claims: readonly ResourceClaim[],
    wanted: readonly (readonly (readonly WantedDevices[])[])[],
    found: NodeDevices,
    meter: Meter,
  ) {
    this.#context = context;
    this.#claims = claims;
    this.#wanted = wanted;
    this.#found = found;
    this.#meter = meter;
    this.#constraints = claims.map(({ spec }) =>
      (spec?.devices?.constraints ?? []).map((constraint) => new ConstraintCheck(constraint)),
    );
    this.#results = claims.map(() => []);
  }

  run(): AllocatedDevice[][] | undefined {
    return this.#allocate(0, 0) ? [...this.#results] : undefined;
  }

  /** Allocates this request and all that follow. */
  #allocate(claim: number, request: number): boolean {
    const requests = this.#wanted[claim];
    if (requests === undefined) return true;
    const alternatives = requests[request];
    if (alternatives === undefined) return this.#allocate(claim + 1, 0);
    return alternatives.some((wanted) => this.#allocateDevices(wanted, { claim, request }, 0, 0));
  }

  #allocateDevices(
    wanted: WantedDevices,
    at: { readonly claim: number; readonly request: number },
    taken: number,
    start: number,
  ): boolean {
    const candidates = this.#candidatesOf(wanted, at.claim);
    const isAll = wanted.request.allocationMode === "All";
    const count = isAll ? candidates.length : (wanted.request.count ?? 1);
    if (isAll && count === 0) return false;
    if (taken >= count) return this.#allocate(at.claim, at.request + 1);
    const has = this.#results[at.claim]?.length ?? 0;
    if (count - taken > MAX_DEVICES - has) return false;
    const end = isAll ? start + 1 : candidates.length;
    for (let index = start; index < end; index += 1) {
      this.#meter.charge(UNITS_PER_DEVICE);
      const device = candidates[index];
      if (device === undefined || !this.#take(wanted, at.claim, device)) continue;
      if (this.#allocateDevices(wanted, at, taken + 1, index + 1)) return true;
      this.#release(wanted, at.claim);
    }
    return false;
  }

  #take(wanted: WantedDevices, claim: number, device: NodeDevice): boolean {
    const results = this.#results[claim] ?? [];
    const isTaken = (some: readonly AllocatedDevice[]) => some.some((one) => one.device.key === device.key);
    const isInUse = wanted.request.adminAccess
      ? isTaken(results)
      : this.#context.isInUse(device) || this.#results.some(isTaken);
    if (isInUse || this.#isTainted(wanted, device)) return false;
    const constraints = this.#constraints[claim] ?? [];
    const broken = constraints.findIndex((constraint) => !constraint.add(wanted.names, device));
    if (broken >= 0) {
      for (const constraint of constraints.slice(0, broken)) constraint.remove(wanted.names);
      return false;
    }
    results.push({ wanted, device });
    return true;
  }

  #release(wanted: WantedDevices, claim: number): void {
    this.#results[claim]?.pop();
    for (const constraint of this.#constraints[claim] ?? []) constraint.remove(wanted.names);
  }

  /** Upstream: taintPreventsAllocation */
  #isTainted({ request: { tolerations = [] } }: WantedDevices, device: NodeDevice): boolean {
    return this.#context
      .taintsOf(device)
      .some(
        (taint) =>
          (taint.effect === "NoSchedule" || taint.effect === "NoExecute") &&
          !tolerations.some((toleration) => tolerates(toleration, taint)),
      );
  }

  #candidatesOf(wanted: WantedDevices, claim: number): readonly NodeDevice[] {
    const known = this.#candidates.get(wanted);
    if (known) return known;
    const { incomplete, devices } = this.#found;
    const about = `claim ${keyOf(this.#claims[claim] ?? { metadata: {} })}`;
    if (wanted.request.allocationMode === "All" && incomplete !== undefined) {
      const what = `asks for all devices, but resource pool ${incomplete} is currently being updated`;
      throw new Error(`${about}, request ${wanted.name}: ${what}`);
    }
    const { deviceClass, request } = wanted;
    const found = devices.filter(
      (device) =>
        this.#matches(`class ${deviceClass.metadata.name}`, deviceClass.spec?.selectors, device) &&
        this.#matches(about, request.selectors, device),
    );
    this.#candidates.set(wanted, found);
    return found;
  }

  #matches(about: string, selectors: readonly DeviceSelector[] = [], { driver, pool, device }: NodeDevice): boolean {
    const selectable: SelectableDevice = { ...device, driver };
    return selectors.every(({ cel }, index) => {
      this.#meter.charge(UNITS_PER_DEVICE);
      try {
        return selectorMatches(cel?.expression ?? "", selectable, this.#meter);
      } catch (error) {
        if (error instanceof TooCostly) throw error;
        const where = `${about}: selector #${index} on device ${driver}/${pool}/${device.name}`;
        throw new Error(`${where}: ${error instanceof Error ? error.message : error}`);
      }
    });
  }
}
