import { isIPv4, parseLooseAddress } from "../../../../base/net/ip-address.ts";
import type { Endpoint, EndpointPort } from "../../../../kinds/types/endpoint-slice.ts";
import { canonicalAddress } from "../../../../kinds/types/ip-address.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { NO_ADDRESS, type Service, type ServicePort } from "../../../../kinds/types/service.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { hasFinished, isReady } from "../../shared/pods.ts";

/** Label of Nodes with the name of their zone. */
export const ZONE = "topology.kubernetes.io/zone";

/** Whether a Pod has an address and may still run. */
export function isEndpoint(pod: Pod, includesTerminating: boolean): boolean {
  if (hasFinished(pod)) return false;
  if ((pod.status?.podIP ?? "") === "" && (pod.status?.podIPs ?? []).length === 0) return false;
  return includesTerminating || pod.metadata.deletionTimestamp === undefined;
}

/** Whether the endpoint of a Pod has a name in the DNS domain of the Service. */
export function hasHostname({ metadata, spec }: Pod, service: Service): boolean {
  return (
    (spec?.hostname ?? "") !== "" &&
    (spec?.subdomain ?? "") === service.metadata.name &&
    metadata.namespace === service.metadata.namespace
  );
}

/** The canonical addresses of a Pod in a family. */
export function podAddresses({ status }: Pod, family: string): string[] {
  return (status?.podIPs ?? []).flatMap(({ ip = "" }) => {
    const bytes = parseLooseAddress(ip);
    return bytes && isIPv4(bytes) === (family === "IPv4") ? [canonicalAddress(ip)] : [];
  });
}

/** The endpoint of a Pod. `addresses` is empty if the Pod has none of the family. */
export function podEndpoint(pod: Pod, node: Node | undefined, service: Service, addressType: string): Endpoint {
  const { namespace = "", name = "", uid = "", deletionTimestamp } = pod.metadata;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const nodeName = pod.spec?.nodeName ?? "";
  const zone = node?.metadata.labels?.[ZONE] ?? "";
  return {
    addresses: podAddresses(pod, addressType).sort(),
    conditions: {
      ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName !== "" && { nodeName }),
    ...(zone !== "" && { zone }),
    ...(hasHostname(pod, service) && { hostname: pod.spec?.hostname ?? "" }),
  };
}

/** The ports of a Service on a Pod. Ports whose name no container has are left out. */
export function podPorts({ spec = {} }: Service, pod: Pod): EndpointPort[] {
  const { ports = [], clusterIP } = spec;
  if (ports.length === 0 && clusterIP === NO_ADDRESS) return [];
  return ports.flatMap((port) => {
    const number = findPort(pod, port);
    if (number === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = port;
    return [{ name, port: number, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

/** The number of a target port. Names are those of ports of containers and sidecars. */
export function findPort({ spec }: Pod, { targetPort = 0, protocol = "TCP" }: ServicePort): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
    const found = ports.find((port) => port.name === targetPort && (port.protocol ?? "TCP") === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}
