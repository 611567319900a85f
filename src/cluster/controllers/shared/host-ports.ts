import { isSidecar } from "../../../kinds/types/container.ts";
import type { PodSpec } from "../../../kinds/types/pod.ts";

/** A port of a node that a Pod uses. */
export interface HostPort {
  readonly ip: string;
  /** `PROTOCOL/PORT` */
  readonly port: string;
}

const ANY_IP = "0.0.0.0";

/** The host ports of containers and sidecars. Upstream: GetHostPorts */
export function hostPortsOf({ initContainers = [], containers = [] }: PodSpec): HostPort[] {
  const found: HostPort[] = [];
  for (const { ports = [] } of [...initContainers.filter(isSidecar), ...containers]) {
    for (const { hostIP, protocol, hostPort = 0 } of ports) {
      if (hostPort > 0) found.push({ ip: hostIP || ANY_IP, port: `${protocol || "TCP"}/${hostPort}` });
    }
  }
  return found;
}

/** The ports in use on a node. Upstream: HostPortInfo */
export class UsedPorts {
  readonly #byIp = new Map<string, Set<string>>();

  add({ ip, port }: HostPort): void {
    const known = this.#byIp.get(ip);
    if (known) known.add(port);
    else this.#byIp.set(ip, new Set([port]));
  }

  remove({ ip, port }: HostPort): void {
    const known = this.#byIp.get(ip);
    known?.delete(port);
    if (known?.size === 0) this.#byIp.delete(ip);
  }

  /** Whether the port is in use, on the same IP or because one of the two is for all IPs. */
  has({ ip, port }: HostPort): boolean {
    if (this.#byIp.size === 0) return false;
    if (ip !== ANY_IP) return this.#byIp.get(ip)?.has(port) || this.#byIp.get(ANY_IP)?.has(port) || false;
    for (const ports of this.#byIp.values()) if (ports.has(port)) return true;
    return false;
  }

  copy(): UsedPorts {
    const copy = new UsedPorts();
    for (const [ip, ports] of this.#byIp) copy.#byIp.set(ip, new Set(ports));
    return copy;
  }
}
