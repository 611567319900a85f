import type { Backend, ResolveService, ServiceReference } from "../../base/net/service-backend.ts";
import { NO_ADDRESS, type ServicePort, type ServiceSpec, specOf } from "../../kinds/types/service.ts";
import type { Resources } from "../../resources/resources.ts";
import { readyEndpoints } from "./endpoints.ts";
import type { Handlers } from "./handlers/handlers.ts";
import { LOCAL_ADDRESS, localService } from "./handlers/local-service.ts";

/**
 * Creates the resolver of extension servers: a function in `handlers`, the Service's ClusterIP, or with
 * `--enable-aggregator-routing` one of its endpoints. Upstream: `buildServiceResolver`.
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
    // Compat: `ResolveEndpoint` does not support external names, unlike `ResolveCluster`.
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
