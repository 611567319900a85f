import type { KubeObject } from "../../../api/object.ts";
import { addressesOf, specOf } from "../../../types/service.ts";
import { addressRecord, canonicalAddress, isAddressRecord } from "./service-addresses.ts";
import { NODE_PORTS, printNodePorts, readNodePorts, unusedNodePorts } from "./service-node-ports.ts";

/** The ClusterIPs and nodePorts that Services hold, for the repair loops. */
export const serviceClaims = {
  portsPlace: NODE_PORTS.place,
  readPorts: readNodePorts,
  printPorts: printNodePorts,
  portsOf: (service: KubeObject) =>
    unusedNodePorts(undefined, specOf(service)).filter((port) => port >= NODE_PORTS.low && port <= NODE_PORTS.high),
  addressesOf: (service: KubeObject) => addressesOf(specOf(service)).map(canonicalAddress),
  addressRecord,
  isAddressRecord,
};
