import type { JsonObject, KubeObject } from "../api/object.ts";
import type { Random } from "../lib/random.ts";

/** EndpointSlice of discovery.k8s.io/v1, as far as it says where a service answers. */
interface EndpointSlice extends JsonObject {
  addressType?: string;
  ports?: { name?: string; port?: number }[];
  endpoints?: Endpoint[];
}

/** Something that answers for a service. */
export interface Endpoint extends JsonObject {
  addresses?: string[];
  conditions?: { ready?: boolean };
  targetRef?: { namespace?: string; name?: string };
}

/** An endpoint with the port that is meant. */
export interface EndpointPort {
  readonly endpoint: Endpoint;
  readonly address: string;
  readonly port: number;
}

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/**
 * The ready endpoints of a service that have a port of that name, from a random one on. `all` are the slices of the
 * namespace; those of the preferred family come first. Upstream: `RandomEndpoint`.
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
