import { isDeepStrictEqual } from "node:util";
import type { AllocationResult, ClaimStatus, DeviceConfiguration } from "../../../kinds/built-in/resource/types.ts";
import type { NodeSelector, NodeSelectorRequirement } from "../../../kinds/types/pod.ts";
import type { ResourceClaim } from "../../controllers/shared/resource-claims.ts";
import type { AllocatedDevice, WantedDevices } from "./device-allocator.ts";
import type { NodeDevice } from "./device-pools.ts";

/** AllocationResult of resource.k8s.io. */
export type ClaimAllocation = NonNullable<ClaimStatus["allocation"]>;

/** What is written to a claim for its devices. Upstream: Allocate */
export function allocationOf(claim: ResourceClaim, allocated: readonly AllocatedDevice[]): ClaimAllocation {
  const config = configurationOf(claim, [...new Set(allocated.map(({ wanted }) => wanted))]);
  const nodeSelector = selectorOf(allocated.map(({ device }) => device));
  return {
    devices: { results: allocated.map(resultOf), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  };
}

function resultOf({ wanted, device: { driver, pool, device } }: AllocatedDevice): AllocationResult {
  const { adminAccess, tolerations = [] } = wanted.request;
  return {
    request: wanted.name,
    driver,
    pool,
    ...(device.name !== undefined && { device: device.name }),
    ...(adminAccess && { adminAccess }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

/** The configurations of classes, then those of the claim that concern a request or the alternative that was chosen. */
function configurationOf({ spec }: ResourceClaim, chosen: readonly WantedDevices[]): DeviceConfiguration[] {
  const byClass = Map.groupBy(chosen, ({ deviceClass }) => deviceClass);
  const ofClasses = [...byClass].flatMap(([{ spec: classSpec }, wanted]) =>
    (classSpec?.config ?? []).map((one) => ({ source: "FromClass", requests: wanted.map(({ name }) => name), ...one })),
  );
  const concerns = ({ requests = [] }: DeviceConfiguration) =>
    requests.length === 0 || chosen.some(({ names }) => names.some((name) => requests.includes(name)));
  const ofClaim = (spec?.devices?.config ?? []).filter(concerns).map((one) => ({ source: "FromClaim", ...one }));
  return [...ofClasses, ...ofClaim].map((one: DeviceConfiguration) => {
    const { requests = [], ...rest } = one;
    const isForAll = chosen.every(({ names }) => names.some((name) => requests.includes(name)));
    return isForAll || requests.length === 0 ? rest : { ...rest, requests };
  });
}

/** The nodes that can use all of the devices. Undefined: all. Upstream: createNodeSelector */
function selectorOf(devices: readonly NodeDevice[]): NodeSelector | undefined {
  const matchFields: NodeSelectorRequirement[] = [];
  const matchExpressions: NodeSelectorRequirement[] = [];
  for (const { placement } of devices) {
    const { nodeName = "", nodeSelector } = placement;
    if (nodeName !== "") {
      return {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }],
      };
    }
    const [term = {}] = nodeSelector?.nodeSelectorTerms ?? [];
    addNew(matchFields, term.matchFields);
    addNew(matchExpressions, term.matchExpressions);
  }
  if (matchFields.length === 0 && matchExpressions.length === 0) return undefined;
  const term = {
    ...(matchExpressions.length > 0 && { matchExpressions }),
    ...(matchFields.length > 0 && { matchFields }),
  };
  return { nodeSelectorTerms: [term] };
}

function addNew(known: NodeSelectorRequirement[], more: readonly NodeSelectorRequirement[] = []): void {
  for (const one of more) if (!known.some((other) => isDeepStrictEqual(one, other))) known.push(one);
}
