import type { KubeObject } from "../../base/api/object.ts";
import { isMapped, parseLooseAddress } from "../../base/net/ip-address.ts";
import { addressNumber, printNumber } from "../../base/net/ip-range.ts";

/** The resource that records which Service has which ClusterIP. */
export const IP_ADDRESSES = { group: "networking.k8s.io", resource: "ipaddresses" } as const;
const MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by";
const MANAGER = "ipallocator.k8s.io";

/** The IPAddress object of a ClusterIP. */
export function addressRecord(service: KubeObject, address: string): KubeObject {
  const { namespace = "", name = "" } = service.metadata;
  return {
    kind: "IPAddress",
    apiVersion: `${IP_ADDRESSES.group}/v1`,
    metadata: {
      name: address,
      labels: {
        "ipaddress.kubernetes.io/ip-family": address.includes(":") ? "IPv6" : "IPv4",
        [MANAGER_LABEL]: MANAGER,
      },
    },
    spec: { parentRef: { resource: "services", namespace, name } },
  };
}

/** Whether an IPAddress is managed by ipallocator.k8s.io, and not created by another client. */
export function isAddressRecord({ metadata }: KubeObject): boolean {
  return metadata.labels?.[MANAGER_LABEL] === MANAGER;
}

/** The canonical form of an IP, which is the name of its IPAddress. */
export function canonicalAddress(address: string): string {
  const bytes = parseLooseAddress(address);
  if (bytes === undefined) return address;
  const plain = isMapped(bytes) ? bytes.subarray(12) : bytes;
  return printNumber(addressNumber(plain), plain.length);
}
