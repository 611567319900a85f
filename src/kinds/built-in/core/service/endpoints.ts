import { type FieldError, notSupportedField, requiredField } from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import { labelName, portNumber, pushInvalid, subdomainName } from "../../shared-rules/formats.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { addressWarnings, pushAddressErrors } from "../../shared-rules/ip.ts";
import { pushEndpointAddressErrors } from "../../shared-rules/ip-ranges.ts";

interface EndpointAddress extends JsonObject {
  ip?: string;
  hostname?: string;
  nodeName?: string;
}

interface EndpointPort extends JsonObject {
  name?: string;
  port?: number;
  protocol?: string;
  appProtocol?: string;
}

interface EndpointSubset extends JsonObject {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MANAGER_LABEL = "endpoints.kubernetes.io/managed-by";

const subsetsOf = ({ subsets }: KubeObject): EndpointSubset[] =>
  Array.isArray(subsets) ? (subsets as EndpointSubset[]) : [];

function addressErrors({ ip = "", hostname = "", nodeName }: EndpointAddress, path: string): FieldError[] {
  const errors: FieldError[] = [];
  pushAddressErrors(errors, `${path}.ip`, ip);
  if (hostname !== "") pushInvalid(errors, `${path}.hostname`, hostname, labelName(hostname));
  if (nodeName !== undefined) pushInvalid(errors, `${path}.nodeName`, nodeName, subdomainName(nodeName));
  pushEndpointAddressErrors(errors, `${path}.ip`, ip);
  return errors;
}

function portErrors(endpoint: EndpointPort, path: string, needsName: boolean): FieldError[] {
  const { name = "", port = 0, protocol = "", appProtocol } = endpoint;
  const errors: FieldError[] = [];
  if (name !== "") pushInvalid(errors, `${path}.name`, name, labelName(name));
  else if (needsName) errors.push(requiredField(`${path}.name`));
  pushInvalid(errors, `${path}.port`, port, portNumber(port));
  if (!PROTOCOLS.includes(protocol)) errors.push(notSupportedField(`${path}.protocol`, protocol, PROTOCOLS));
  if (appProtocol !== undefined) pushInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedName(appProtocol));
  return errors;
}

function subsetErrors(
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: string,
): FieldError[] {
  const text = "must specify `addresses` or `notReadyAddresses`";
  return [
    ...(addresses.length + notReadyAddresses.length === 0 ? [requiredField(path, text)] : []),
    ...addresses.flatMap((address, index) => addressErrors(address, `${path}.addresses[${index}]`)),
    ...notReadyAddresses.flatMap((address, index) => addressErrors(address, `${path}.notReadyAddresses[${index}]`)),
    ...ports.flatMap((port, index) => portErrors(port, `${path}.ports[${index}]`, ports.length > 1)),
  ];
}

/** Endpoints: the addresses of a Service's pods in one object. */
export const endpointsHooks: ResourceHooks = {
  validate(next, previous) {
    // Compat: `ValidateEndpointsUpdate` does not validate `subsets` that have not changed.
    if (previous && sameValue(next.subsets, previous.subsets)) return [];
    return subsetsOf(next).flatMap((subset, index) => subsetErrors(subset, `subsets[${index}]`));
  },
  warn(next) {
    if (next.metadata.labels?.[MANAGER_LABEL] === "endpoint-controller") return [];
    return subsetsOf(next).flatMap((subset, index) =>
      (["addresses", "notReadyAddresses"] as const).flatMap((member) =>
        (subset[member] ?? []).flatMap(({ ip = "" }, at) =>
          addressWarnings(`subsets[${index}].${member}[${at}].ip`, ip),
        ),
      ),
    );
  },
};
