import { memoize } from "../../../../base/util/memoize.ts";
import type { EndpointPort } from "../../../../kinds/types/endpoint-slice.ts";
import { fnv128a } from "../../shared/hashes/fnv.ts";
import { spewPrinter } from "../../shared/hashes/spew.ts";

const FIELDS = [
  "Name name *string",
  "Protocol protocol *v1.Protocol",
  "Port port *int32",
  "AppProtocol appProtocol *string",
];
const print = spewPrinter(
  { structs: { "v1.EndpointPort": FIELDS }, types: { "v1.Protocol": "string" } },
  "v1.EndpointPort",
);
const hashOf = memoize((text: string) => fnv128a(Buffer.from(text)), { results: 1000, textLength: 300 });

/** Ports in the order of an EndpointSlice: by the hashes of their Go structs. Upstream: portsInOrder */
export function sortPorts(ports: readonly EndpointPort[]): EndpointPort[] {
  if (ports.length < 2) return [...ports];
  const hashed = ports.map((port) => ({ port, hash: hashOf(`(v1.EndpointPort)${print(port)}`) }));
  return hashed
    .sort((one, other) => (one.hash < other.hash ? -1 : one.hash > other.hash ? 1 : 0))
    .map(({ port }) => port);
}

/** Equal for equal sets of ports. */
export function portsKey(ports: readonly EndpointPort[] | null | undefined): string {
  const texts = (ports ?? []).map(({ name, port, protocol, appProtocol }) =>
    JSON.stringify([name ?? null, port ?? null, protocol ?? null, appProtocol ?? null]),
  );
  return texts.sort().join();
}
