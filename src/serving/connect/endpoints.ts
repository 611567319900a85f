import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { Random } from "../../base/util/random.ts";

/** The part of a discovery.k8s.io/v1 EndpointSlice that locates a service. */
interface EndpointSlice extends JsonObject {
  addressType?: string;
  ports?: { name?: string; port?: number }[];
  endpoints?: Endpoint[];
}

/** An endpoint of a service. */
export interface Endpoint extends JsonObject {
  addresses?: string[];
  conditions?: { ready?: boolean };
  targetRef?: { namespace?: string; name?: string };
}

/** An endpoint with the selected port. */
export interface EndpointPort {
  readonly endpoint: Endpoint;
  readonly address: string;
  readonly port: number;
}

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/**
 * Yields the ready endpoints of a service that have a port of this name, starting at a random one. `all` are the slices
 * of the namespace; slices of the preferred address family come first. Upstream: `RandomEndpoint`.
 */
export function* readyEndpoints(
  all: readonly KubeObject[],
  service: { readonly name: string; readonly portName: string; readonly family?: string | undefined },
  random: Random,
): Generator<EndpointPort> {
  const slices = all.filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === service.name);
  const others = ({ addressType }: EndpointSlice) => Number(addressType !== service.family);
  const inTurn = fromRandom(slices as (KubeObject & EndpointSlice)[], random).sort((a, b) => others(a) - others(b));
  for (const { ports = [], endpoints = [] } of inTurn) {
    const found = ports.find(({ name = "", port }) => name === service.portName && port !== undefined);
    if (found?.port === undefined) continue;
    for (const endpoint of fromRandom(endpoints, random)) {
      if (endpoint.conditions?.ready === false) continue;
      yield { endpoint, address: endpoint.addresses?.[0] ?? "", port: found.port };
    }
  }
}

function fromRandom<Item>(items: readonly Item[], random: Random): Item[] {
  const start = items.length > 1 ? random.integer(items.length) : 0;
  return [...items.slice(start), ...items.slice(0, start)];
}
