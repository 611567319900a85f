import type { ObjectAccess } from "../resources/model/definition.ts";
import { NO_ADDRESS, specOf } from "../types/service.ts";
import type { ServiceReference } from "./api-service.ts";

/** Where an extension server answers. */
export interface Backend {
  readonly host: string;
  readonly port: number;
}

/**
 * The address of a Service. Throws an Error with upstream's text when there is none. Upstream: `proxy.ResolveCluster`.
 */
export async function resolveService(
  access: Pick<ObjectAccess, "find">,
  { namespace, name, port }: ServiceReference,
): Promise<Backend> {
  const service = await access.find("", "services", { namespace, name });
  if (!service) throw new Error(`service "${name}" not found`);
  const { type = "ClusterIP", clusterIP = "", externalName = "", ports = [] } = specOf(service);
  if (type === "ExternalName") return { host: externalName, port };
  if (clusterIP === NO_ADDRESS) throw new Error(`cannot route to service with ClusterIP "${clusterIP}"`);
  if (!ports.some((one) => one.port === port)) throw new Error(`no service port ${port} found for service "${name}"`);
  return { host: clusterIP, port };
}
