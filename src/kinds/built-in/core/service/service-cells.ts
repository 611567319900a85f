import type { Column } from "../../../../base/api/columns.ts";
import type { JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { parseAddress } from "../../../../base/net/ip-address.ts";
import {
  AGE,
  column,
  labels,
  NAME,
  printFirst,
  readNumber,
  readObjects,
  readText,
  readTexts,
  sortedSet,
  text,
  wide,
} from "../../cells.ts";

/** The addresses in status.loadBalancer.ingress, sorted. */
export function ingressAddresses(object: KubeObject): string[] {
  const points = readObjects(object, ".status.loadBalancer.ingress");
  return sortedSet(
    points.map((point) => readText(point, ".ip") || readText(point, ".hostname")).filter((one) => one !== ""),
  );
}

function printExternal(service: KubeObject): string {
  const own = readTexts(service, ".spec.externalIPs");
  switch (readText(service, ".spec.type")) {
    case "ClusterIP":
    case "NodePort":
      return own.join(",") || "<none>";
    case "LoadBalancer":
      return [...ingressAddresses(service), ...own].join(",") || "<pending>";
    case "ExternalName":
      return readText(service, ".spec.externalName");
    default:
      return "<unknown>";
  }
}

function printPort(port: JsonObject): string {
  const nodePort = readNumber(port, ".nodePort");
  return `${readNumber(port, ".port")}${nodePort === 0 ? "" : `:${nodePort}`}/${readText(port, ".protocol")}`;
}

function printPorts(service: KubeObject): string {
  return readObjects(service, ".spec.ports").map(printPort).join(",") || "<none>";
}

function printClusterAddress(service: KubeObject): string {
  return readTexts(service, ".spec.clusterIPs")[0] ?? readText(service, ".spec.clusterIP", "<none>");
}

/** The table columns of Service. */
export const serviceColumns: readonly Column[] = [
  NAME,
  column("Type", "string", text(".spec.type")),
  column("Cluster-IP", "string", printClusterAddress),
  column("External-IP", "string", printExternal),
  column("Port(s)", "string", printPorts),
  AGE,
  wide("Selector", "string", labels(".spec.selector")),
];

function subsetAddresses(subset: JsonObject): string[] {
  const addresses = readObjects(subset, ".addresses").map((address) => readText(address, ".ip"));
  const ports = readObjects(subset, ".ports");
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) =>
    addresses.map((ip) => `${parseAddress(ip)?.length === 16 ? `[${ip}]` : ip}:${readNumber(port, ".port")}`),
  );
}

function printEndpoints(endpoints: KubeObject): string {
  const subsets = readObjects(endpoints, ".subsets");
  if (subsets.length === 0) return "<none>";
  const addresses = subsets.flatMap(subsetAddresses);
  return addresses.length === 0 ? "" : printFirst(addresses, 3);
}

/** The table columns of Endpoints. */
export const endpointsColumns: readonly Column[] = [NAME, column("Endpoints", "string", printEndpoints), AGE];
