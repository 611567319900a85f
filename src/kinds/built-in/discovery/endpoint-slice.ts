import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { labelValue, qualifiedName } from "../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { isIPv4, parseLooseAddress } from "../../../base/net/ip-address.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { Texts } from "../../types/meta.ts";
import { type DeclaredRules, declaredHook } from "../shared-rules/declared.ts";
import { labelName, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { addressWarnings, pushAddressErrors, pushCanonicalAddressErrors } from "../shared-rules/ip.ts";
import { pushEndpointAddressErrors } from "../shared-rules/ip-ranges.ts";

interface Named extends JsonObject {
  name?: string;
}

interface Endpoint extends JsonObject {
  addresses?: string[] | null;
  hostname?: string;
  nodeName?: string;
  deprecatedTopology?: Texts;
  hints?: { forZones?: Named[]; forNodes?: Named[] };
}

interface EndpointPort extends Named {
  protocol?: string;
  appProtocol?: string;
}

const MAX_ENDPOINTS = 1000;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;
const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const HOST_LABEL = "kubernetes.io/hostname";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const CONTROLLERS: readonly (string | undefined)[] = [
  "endpointslice-controller.k8s.io",
  "endpointslicemirroring-controller.k8s.io",
];

const rules: DeclaredRules = {
  EndpointSlice: { fields: { addressType: { required: true, immutable: true, closed: true } } },
  Endpoint: { fields: { addresses: { required: true, maxItems: 100 } } },
};
const declaredErrors = declaredHook(rules, (version) => `io.k8s.api.discovery.${version}.EndpointSlice`);

const endpointsOf = (slice: KubeObject) => (slice.endpoints ?? []) as Endpoint[];

function portErrors(ports: readonly EndpointPort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooManyField("ports", ports.length, MAX_PORTS)];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of ports.entries()) {
    const path = `ports[${index}]`;
    if (name !== "") pushInvalid(errors, `${path}.name`, name, labelName(name));
    if (names.has(name)) errors.push(duplicateField(`${path}.name`, name));
    names.add(name);
    if (protocol === undefined) errors.push(requiredField(`${path}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupportedField(`${path}.protocol`, protocol, PROTOCOLS));
    if (appProtocol !== undefined) pushInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedName(appProtocol));
  }
  return errors;
}

function addressErrors(addressType: unknown, address: string, path: string, index: number): FieldError[] {
  const errors: FieldError[] = [];
  const itemPath = `${path}[${index}]`;
  if (addressType === "FQDN") return domainErrors(address, itemPath);
  if (addressType !== "IPv4" && addressType !== "IPv6") return [];
  if (addressType === "IPv4") pushAddressErrors(errors, itemPath, address);
  else pushCanonicalAddressErrors(errors, itemPath, address);
  if (errors.length > 0) return errors;
  const bytes = parseLooseAddress(address);
  if (bytes && isIPv4(bytes) !== (addressType === "IPv4")) {
    errors.push(invalidField(path, address, `must be an ${addressType} address`));
  }
  pushEndpointAddressErrors(errors, itemPath, address);
  return errors;
}

function domainErrors(address: string, path: string): FieldError[] {
  if (address === "") return [requiredField(path)];
  const name = address.endsWith(".") ? address.slice(0, -1) : address;
  const texts = subdomainName(name);
  if (texts.length > 0) return [invalidField(path, name, texts.join(","))];
  const labels = name.split(".");
  if (labels.length < 2) {
    return [invalidField(path, name, "should be a domain with at least two segments separated by dots")];
  }
  for (const label of labels) {
    const wrong = labelName(label);
    if (wrong.length > 0) return [invalidField(path, label, wrong.join(","))];
  }
  return [];
}

function hintErrors(hints: readonly Named[], path: string, textsOf: (name: string) => string[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, { name = "" }] of hints.entries()) {
    const itemPath = `${path}[${index}].name`;
    if (names.has(name)) errors.push(duplicateField(itemPath, name));
    names.add(name);
    pushInvalid(errors, itemPath, name, textsOf(name));
  }
  return errors;
}

function endpointErrors(endpoint: Endpoint, addressType: unknown, path: string): FieldError[] {
  const { addresses, nodeName, hostname, hints: { forZones = [], forNodes = [] } = {} } = endpoint;
  const errors = (addresses ?? []).flatMap((address, index) =>
    addressErrors(addressType, address, `${path}.addresses`, index),
  );
  if (nodeName !== undefined) pushInvalid(errors, `${path}.nodeName`, nodeName, subdomainName(nodeName));
  if (hostname !== undefined) pushInvalid(errors, `${path}.hostname`, hostname, labelName(hostname));
  for (const [member, hints, textsOf] of [
    ["forZones", forZones, labelValue],
    ["forNodes", forNodes, subdomainName],
  ] as const) {
    const hintPath = `${path}.hints.${member}`;
    if (hints.length > MAX_HINTS) return [...errors, tooManyField(hintPath, hints.length, MAX_HINTS)];
    addAll(errors, hintErrors(hints, hintPath, textsOf));
  }
  return errors;
}

function endpointsErrors(slice: KubeObject): FieldError[] {
  const endpoints = endpointsOf(slice);
  if (endpoints.length > MAX_ENDPOINTS) return [tooManyField("endpoints", endpoints.length, MAX_ENDPOINTS)];
  return endpoints.flatMap((endpoint, index) => endpointErrors(endpoint, slice.addressType, `endpoints[${index}]`));
}

/**
 * Removes `deprecatedTopology`, which v1 cannot set; its hostname becomes `nodeName` if the stored slice had it.
 * Upstream: `dropTopologyOnV1`.
 */
function dropTopology(next: KubeObject, previous: KubeObject | undefined): void {
  if (previous && sameValue(next.endpoints, previous.endpoints)) return;
  const known = previous ? endpointsOf(previous).map((one) => one.deprecatedTopology?.[HOST_LABEL]) : [];
  for (const endpoint of endpointsOf(next)) {
    const node = endpoint.deprecatedTopology?.[HOST_LABEL];
    if (endpoint.nodeName === undefined && node && known.includes(node) && subdomainName(node).length === 0) {
      endpoint.nodeName = node;
    }
    delete endpoint.deprecatedTopology;
  }
}

/**
 * Compat: an unsupported `addressType` in an update is reported here and again next to "field is immutable" by
 * declarative validation.
 */
function changedTypeErrors({ addressType = "" }: KubeObject, previous: KubeObject | undefined): FieldError[] {
  if (!previous || addressType === previous.addressType || addressType === "") return [];
  return ADDRESS_TYPES.includes(String(addressType))
    ? []
    : [notSupportedField("addressType", addressType, ADDRESS_TYPES)];
}

/** EndpointSlice: endpoints whose addresses all have the slice's `addressType`. */
export const endpointSliceHooks: ResourceHooks = {
  prepare(next, previous) {
    // Compat: `metadata.generation` also counts changes of labels, and of `deprecatedTopology`, which is only dropped
    // after the comparison.
    const isChanged =
      !sameValue(next.metadata.labels, previous?.metadata.labels) || !sameValue(next.endpoints, previous?.endpoints);
    if (previous && isChanged) next.metadata.generation = (previous.metadata.generation ?? 0) + 1;
    dropTopology(next, previous);
  },
  validate(next, previous, context) {
    const errors = [...changedTypeErrors(next, previous), ...portErrors((next.ports ?? []) as EndpointPort[])];
    const found = endpointsErrors(next);
    if (found.length > 0 && !(previous && sameValue(next.endpoints, previous.endpoints))) addAll(errors, found);
    return [...errors, ...declaredErrors(next, previous, context)];
  },
  warn(next, previous) {
    const warnings: string[] = [];
    if (!previous && next.addressType === "FQDN") {
      warnings.push("spec.addressType: FQDN endpoints are deprecated");
    }
    if (CONTROLLERS.includes(next.metadata.labels?.[MANAGED_BY])) return warnings;
    for (const [index, { addresses }] of endpointsOf(next).entries()) {
      for (const [at, address] of (addresses ?? []).entries()) {
        addAll(warnings, addressWarnings(`endpoints[${index}].addresses[${at}]`, address));
      }
    }
    return warnings;
  },
};
