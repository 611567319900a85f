import type { Device, DeviceTaint, Placement } from "../../../kinds/built-in/resource/types.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Informer } from "../../controllers/shared/informer.ts";
import type { Informers } from "../../controllers/shared/informers.ts";
import { nodeSelectorMatcher } from "../../controllers/shared/node-affinity.ts";
import {
  currentSlices,
  type DeviceTaintRule,
  deviceKey,
  type ResourceSlice,
  selects,
  slicePool,
} from "../../controllers/shared/resource-slices.ts";

const GROUP = "resource.k8s.io";

/** A device that a node can use. */
export interface NodeDevice {
  /** Identifies it in the cluster. */
  readonly key: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: Device;
  /** Which nodes can use it. */
  readonly placement: Placement;
}

/** The devices that a node can use. */
export interface NodeDevices {
  readonly devices: readonly NodeDevice[];
  /** A pool whose slices are being replaced: its devices are not known. */
  readonly incomplete: string | undefined;
}

const ruleDevice = ({ spec }: DeviceTaintRule) => [spec?.deviceSelector?.device ?? ""];
const sliceNode = ({ spec }: ResourceSlice) => [spec?.nodeName ?? ""];

/** The devices of all ResourceSlices, by node. Upstream: GatherPools */
export class DevicePools {
  readonly #slices: Informer<ResourceSlice>;
  readonly #rules: Informer<DeviceTaintRule>;

  constructor(informers: Informers) {
    this.#slices = informers.of<ResourceSlice>(GROUP, "resourceslices").informer;
    this.#rules = informers.of<DeviceTaintRule>(GROUP, "devicetaintrules").informer;
  }

  /** The informers that must be loaded. */
  get informers(): readonly Pick<Informer, "use">[] {
    return [this.#slices, this.#rules];
  }

  devicesOf(node: Node): NodeDevices {
    const byNode = this.#slices.index(sliceNode);
    const byPool = this.#slices.index(slicePool);
    const devices: NodeDevice[] = [];
    let incomplete: string | undefined;
    for (const slice of [...byNode.get(node.metadata.name ?? ""), ...byNode.get("")]) {
      const { spec = {} } = slice;
      const { driver = "", pool: { name: pool = "", resourceSliceCount = 0 } = {} } = spec;
      const found = devicesIn(slice, node);
      if (found.length === 0) continue;
      const all = [...byPool.get(deviceKey(driver, pool))];
      if (currentSlices([slice], all).length === 0) continue;
      if (currentSlices(all, all).length !== resourceSliceCount) incomplete = `${driver}/${pool}`;
      else for (const one of found) devices.push(one);
    }
    return { devices, incomplete };
  }

  /** The taints of a device: its own, and those of rules. */
  taintsOf({ driver, pool, device }: NodeDevice): DeviceTaint[] {
    const byDevice = this.#rules.index(ruleDevice);
    const rules = [...byDevice.get(device.name ?? ""), ...byDevice.get("")];
    const ruled = rules.filter((rule) => selects(rule, driver, pool, device.name));
    return [...(device.taints ?? []), ...ruled.flatMap(({ spec }): DeviceTaint[] => (spec?.taint ? [spec.taint] : []))];
  }
}

function devicesIn({ spec = {} }: ResourceSlice, node: Node): NodeDevice[] {
  const { driver = "", pool: { name: pool = "" } = {}, perDeviceNodeSelection = false, devices = [] } = spec;
  if (!perDeviceNodeSelection && !isPlacedOn(spec, node)) return [];
  return devices
    .filter((device) => isSupported(device) && (!perDeviceNodeSelection || isPlacedOn(device, node)))
    .map((device) => {
      const key = deviceKey(driver, pool, device.name);
      return { key, driver, pool, device, placement: perDeviceNodeSelection ? device : spec };
    });
}

/** Upstream: NodeMatches */
function isPlacedOn({ nodeName = "", allNodes = false, nodeSelector }: Placement, node: Node): boolean {
  if (nodeName !== "") return nodeName === node.metadata.name;
  return allNodes || (nodeSelector !== undefined && nodeSelectorMatcher(nodeSelector)(node));
}

/** Differs: devices that share counters, have binding conditions or can be allocated several times are not allocated. */
function isSupported({ consumesCounters = [], bindingConditions = [], allowMultipleAllocations }: Device): boolean {
  return consumesCounters.length === 0 && bindingConditions.length === 0 && allowMultipleAllocations !== true;
}
