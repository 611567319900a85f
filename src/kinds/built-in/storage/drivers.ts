import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseQuantity } from "../../../base/api/quantity.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { checkDriverName } from "../core/volume/volume-source-validation.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { IMMUTABLE, immutable, sameValue } from "../shared-rules/immutable.ts";
import { hasInvalidValue, orderedSelector, validateLabelSelector } from "../shared-rules/label-selector.ts";
import { nodeSelectorWarnings } from "../shared-rules/node-labels.ts";
import { NOT_NEGATIVE, nonNegative } from "../shared-rules/numbers.ts";

interface TokenRequest extends JsonObject {
  audience?: string;
  expirationSeconds?: number;
}

interface DriverSpec extends JsonObject {
  attachRequired?: boolean;
  volumeLifecycleModes?: string[];
  fsGroupPolicy?: string;
  tokenRequests?: TokenRequest[];
  nodeAllocatableUpdatePeriodSeconds?: number;
  serviceAccountTokenInSecrets?: boolean;
}

interface NodeDriver extends JsonObject {
  name?: string;
  nodeID?: string;
  topologyKeys?: string[] | null;
  allocatable?: { count?: number };
}

const GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLE_MODES = ["Persistent", "Ephemeral"];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_PERIOD = 10;
const MAX_NODE_ID = 256;
const TOKEN_WARNING =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

const driverSpecOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as DriverSpec;

function tokenErrors(requests: readonly TokenRequest[], path: string): FieldError[] {
  const audiences = new Set<string>();
  return requests.flatMap(({ audience = "", expirationSeconds: seconds }, index) => {
    const itemPath = `${path}[${index}]`;
    if (audiences.has(audience)) return [duplicateField(`${itemPath}.audience`, audience)];
    audiences.add(audience);
    const say = (text: string) => [invalidField(`${itemPath}.expirationSeconds`, seconds, text)];
    if (seconds === undefined) return [];
    if (seconds < MIN_TOKEN_SECONDS) return say("may not specify a duration less than 10 minutes");
    return seconds > MAX_TOKEN_SECONDS ? say("may not specify a duration larger than 2^32 seconds") : [];
  });
}

function driverErrors(spec: DriverSpec): FieldError[] {
  const { fsGroupPolicy, tokenRequests = [], volumeLifecycleModes = [] } = spec;
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  const errors: FieldError[] = [];
  if (fsGroupPolicy !== undefined && !GROUP_POLICIES.includes(fsGroupPolicy)) {
    errors.push(notSupportedField("spec.fsGroupPolicy", fsGroupPolicy, GROUP_POLICIES));
  }
  addAll(errors, tokenErrors(tokenRequests, "spec.tokenRequests"));
  for (const mode of volumeLifecycleModes) {
    if (LIFECYCLE_MODES.includes(mode)) continue;
    errors.push(notSupportedField("spec.volumeLifecycleModes", mode, LIFECYCLE_MODES));
  }
  if (period !== undefined && period < MIN_PERIOD) {
    const text = "must be greater than or equal to 10 seconds";
    errors.push(invalidField("spec.nodeAllocatableUpdatePeriodSeconds", period, text));
  }
  if (inSecrets !== undefined && tokenRequests.length === 0) {
    const text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.push(invalidField("spec.serviceAccountTokenInSecrets", inSecrets, text));
  }
  return errors;
}

/** Compat: `metadata.generation` of a CSIDriver counts changes of the spec from 0, so an unchanged one shows none. */
function countGeneration(next: KubeObject, previous: KubeObject | undefined): void {
  delete next.metadata.generation;
  if (previous === undefined) return;
  const generation = (previous.metadata.generation ?? 0) + (sameValue(next.spec, previous.spec) ? 0 : 1);
  if (generation > 0) next.metadata.generation = generation;
}

/** CSIDriver: capabilities of a driver; `attachRequired` and others are immutable. */
export const csiDriverHooks: ResourceHooks = {
  prepare: countGeneration,
  validate(next, previous) {
    const spec = driverSpecOf(next);
    const errors = driverErrors(spec);
    if (!previous) return errors;
    const before = driverSpecOf(previous);
    return [
      ...errors,
      ...immutable(spec.attachRequired, before.attachRequired, "spec.attachedRequired"),
      ...immutable(spec.volumeLifecycleModes, before.volumeLifecycleModes, "spec.volumeLifecycleModes"),
    ];
  },
  warn(next, previous) {
    const { tokenRequests = [], serviceAccountTokenInSecrets } = driverSpecOf(next);
    if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
    return previous && sameValue(tokenRequests, driverSpecOf(previous).tokenRequests) ? [] : [TOKEN_WARNING];
  },
};

const nodeDriversOf = ({ spec }: KubeObject) => ((isObject(spec) ? spec.drivers : []) ?? []) as NodeDriver[];

function nodeDriverErrors(driver: NodeDriver, isSecond: boolean, path: string): FieldError[] {
  const { name = "", nodeID = "", topologyKeys, allocatable } = driver;
  const errors: FieldError[] = [];
  checkDriverName(errors, name, `${path}.name`);
  if (nodeID === "") errors.push(requiredField(`${path}.nodeID`));
  if (byteLength(nodeID) > MAX_NODE_ID) {
    errors.push(invalidField(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`));
  }
  addAll(errors, nonNegative(allocatable?.count, `${path}.allocatable.count`));
  if (isSecond) errors.push(duplicateField(`${path}.name`, name));
  const isSecondKey = seenBefore<string>();
  for (const key of topologyKeys ?? []) {
    if (key === "") errors.push(requiredField(path));
    if (isSecondKey(key)) errors.push(duplicateField(path, key));
    pushInvalid(errors, path, key, qualifiedName(key));
  }
  return errors;
}

const DRIVER_SHAPE = [
  ["Name", "name", ""],
  ["NodeID", "nodeID", ""],
  ["TopologyKeys", "topologyKeys"],
  ["Allocatable", "allocatable"],
] as const;

function changedDriverErrors(next: readonly NodeDriver[], previous: readonly NodeDriver[]): FieldError[] {
  const fixed = ({ allocatable: _allocatable, ...rest }: NodeDriver) => rest as Json;
  const byName = Map.groupBy(next, ({ name }) => name);
  return previous.flatMap((before) =>
    (byName.get(before.name) ?? []).flatMap((driver) =>
      immutable(fixed(driver), fixed(before), "spec.drivers", (value) => asGo(value, DRIVER_SHAPE)),
    ),
  );
}

/** CSINode: the CSI drivers on a node; only `allocatable` of an entry may change. */
export const csiNodeHooks: ResourceHooks = {
  prepare(next, _previous, { subresource, features }) {
    if (features.enabled("CSIVolumeHealth")) return;
    if (subresource === "status" && isObject(next.status)) delete next.status.storageHealth;
  },
  validate(next, previous, { subresource }) {
    if (subresource === "status") return [];
    const drivers = nodeDriversOf(next);
    const isSecond = seenBefore<string | undefined>();
    const errors = drivers.flatMap((driver, index) => {
      return nodeDriverErrors(driver, isSecond(driver.name), `spec.drivers[${index}]`);
    });
    return previous ? [...errors, ...changedDriverErrors(drivers, nodeDriversOf(previous))] : errors;
  },
};

/**
 * CSIStorageCapacity: the remaining capacity of a StorageClass in a topology; `storageClassName` and `nodeTopology` are
 * immutable.
 */
export const storageCapacityHooks: ResourceHooks = {
  validate(next, previous) {
    const { nodeTopology, storageClassName = "", capacity } = next;
    const allowsInvalidValues = previous !== undefined && hasInvalidValue(previous.nodeTopology);
    const errors = validateLabelSelector(nodeTopology, "nodeTopology", { allowsInvalidValues });
    if (typeof storageClassName === "string") {
      pushInvalid(errors, "storageClassName", storageClassName, subdomainName(storageClassName));
    }
    if (typeof capacity === "string" && parseQuantity(capacity).mantissa < 0n) {
      errors.push(invalidField("capacity", capacity, NOT_NEGATIVE));
    }
    if (!previous) return errors;
    if (!sameValue(nodeTopology, previous.nodeTopology)) {
      errors.push(invalidField("nodeTopology", orderedSelector(nodeTopology), IMMUTABLE));
    }
    return [...errors, ...immutable(storageClassName, previous.storageClassName ?? "", "storageClassName")];
  },
  warn: (next) => nodeSelectorWarnings(next.nodeTopology, "nodeTopology"),
};
