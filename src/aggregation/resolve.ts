import { readyEndpoints } from "../connect/endpoints.ts";
import type { Handlers } from "../connect/handlers/handlers.ts";
import { LOCAL_ADDRESS, localService } from "../connect/handlers/local-service.ts";
import type { Resources } from "../resources/resources.ts";
import { NO_ADDRESS, type ServicePort, type ServiceSpec, specOf } from "../types/service.ts";
import type { ServiceReference } from "./api-service.ts";

/** Where an extension server answers. */
export interface Backend {
  readonly host: string;
  readonly port: number;
  /** A function of the configuration stands behind the Service, which needs no address and no endpoints then. */
  readonly isLocal?: boolean;
}

/** Finds out where a Service answers. Rejects with upstream's text when it does nowhere. */
export type ResolveService = (service: ServiceReference) => Promise<Backend>;

/**
 * How extension servers are found: where a function of `handlers` says, at the address of their Service, or with
 * `--enable-aggregator-routing` at one of its endpoints. Upstream: `buildServiceResolver`.
 */
export function serviceResolver(
  { access, random }: Pick<Resources, "access" | "random">,
  toEndpoints: boolean,
  handlers: Pick<Handlers, "service"> = {},
): ResolveService {
  return async (reference) => {
    const { namespace, name } = reference;
    const service = await access.find("", "services", { namespace, name });
    if (!service) throw new Error(`service "${name}" not found`);
    const local = localService(handlers, service, reference.port);
    if (local) return { host: LOCAL_ADDRESS, port: local.port, isLocal: true };
    const spec = specOf(service);
    if (!toEndpoints) return clusterAddress(spec, reference);
    // Compat: `ResolveEndpoint` leaves out the external names that `ResolveCluster` takes.
    const { type = "ClusterIP", ipFamilies = [] } = spec;
    if (type === "ExternalName") throw new Error(`unsupported service type "${type}"`);
    const portName = portOf(spec, reference).name ?? "";
    const slices = await access.list("discovery.k8s.io", "endpointslices", namespace, "any");
    const found = readyEndpoints(slices, { name, portName, family: ipFamilies[0] }, random).next();
    if (found.done) throw new Error(`no endpoints available for service "${name}"`);
    return { host: found.value.address, port: found.value.port };
  };
}

/** Upstream: `ResolveCluster`. */
function clusterAddress(spec: ServiceSpec, reference: ServiceReference): Backend {
  const { type = "ClusterIP", clusterIP = "", externalName = "" } = spec;
  const { port } = reference;
  if (type === "ExternalName") return { host: externalName, port };
  if (clusterIP === NO_ADDRESS) throw new Error(`cannot route to service with ClusterIP "${clusterIP}"`);
  portOf(spec, reference);
  return { host: clusterIP, port };
}

function portOf({ ports = [] }: ServiceSpec, { name, port }: ServiceReference): ServicePort {
  const found = ports.find((one) => one.port === port);
  if (!found) throw new Error(`no service port ${port} found for service "${name}"`);
  return found;
}
