import { isObject, type Json, type KubeObject } from "../../base/api/object.ts";
import type { Backend, ResolveService } from "../../base/net/service-backend.ts";
import { parseForeignJson } from "../../data/encoding/json/json.ts";
import { specOf } from "../../kinds/types/service.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";
import type { Availability, RemoteApi } from "./api-service.ts";
import type { ApiServiceIndex } from "./api-service-index.ts";
import type { ExtensionClient } from "./extension-client.ts";

/** What the controller of the Available condition needs of the aggregator. */
export interface AvailabilityOptions {
  readonly index: ApiServiceIndex;
  readonly client: ExtensionClient;
  readonly resolve: ResolveService;
  /** Receives the APIResourceList of an extension server, or undefined if it did not respond. */
  discovered(api: RemoteApi, resources: Json | undefined): void;
  /** Reads further documents (OpenAPI) of an extension server that responds. */
  read(api: RemoteApi, signal: AbortSignal): Promise<void>;
}

/** The result of a check of an extension server. */
export interface Finding extends Omit<Availability, "lastTransitionTime"> {
  /** The APIResourceList of the server. */
  readonly resources?: Json;
}

/** Compat: the user that `remote_available_controller` sends to extension servers. */
const AGGREGATOR = { name: "system:kube-aggregator", groups: ["system:masters"] } as const;
const ATTEMPTS = 5;
const TIMEOUT_MS = 5000;
const MAX_BYTES = 2 * 1024 * 1024;

const SERVICE_NAME_LABEL = "kubernetes.io/service-name";

/** Dependencies of `checkAvailability`. */
export interface AvailabilityContext {
  readonly access: Pick<ObjectAccess, "find" | "list">;
  readonly client: ExtensionClient;
  readonly resolve: ResolveService;
}

/** Checks whether an extension server responds. Upstream: `sync` of the `AvailableConditionController`. */
export async function checkAvailability(
  api: RemoteApi,
  { access, client, resolve }: AvailabilityContext,
  signal: AbortSignal,
): Promise<Finding> {
  const { namespace, name, port } = api.service;
  const subject = `service/${name} in "${namespace}"`;
  const unavailable = (reason: string, message: string): Finding => ({ status: "False", reason, message });
  let service: KubeObject | undefined;
  try {
    service = await access.find("", "services", { namespace, name });
  } catch (error) {
    return {
      status: "Unknown",
      reason: "ServiceAccessError",
      message: `${subject} cannot be checked due to: ${error}`,
    };
  }
  if (!service) return unavailable("ServiceNotFound", `${subject} is not present`);
  const { type = "ClusterIP", ports = [] } = specOf(service);
  const backend = await resolve(api.service).catch((error: Error) => error);
  const isLocal = "isLocal" in backend && backend.isLocal === true;
  // Compat: endpoints are only checked for Services of type ClusterIP that are not headless; headless ones have no
  // route.
  if (type === "ClusterIP") {
    const found = ports.find((one) => one.port === port);
    if (!found) return unavailable("ServicePortError", `${subject} is not listening on port ${port}`);
    if (specOf(service).clusterIP !== "None" && !isLocal) {
      const slices = await access.list("discovery.k8s.io", "endpointslices", namespace, "any");
      const portName = found.name ?? "";
      if (
        !slices.some((slice) => slice.metadata.labels?.[SERVICE_NAME_LABEL] === name && hasAddress(slice, portName))
      ) {
        const message = `endpointslices for ${subject} have no addresses with port name "${portName}"`;
        return unavailable("MissingEndpoints", message);
      }
    }
  }
  try {
    if (backend instanceof Error) throw backend;
    const resources = await discover(api, backend, client, signal);
    return { status: "True", reason: "Passed", message: "all checks passed", resources };
  } catch (error) {
    return unavailable("FailedDiscoveryCheck", error instanceof Error ? error.message : String(error));
  }
}

function hasAddress({ ports, endpoints }: KubeObject, portName: string): boolean {
  const named = Array.isArray(ports) && ports.some((port) => isObject(port) && (port.name ?? "") === portName);
  if (!named || !Array.isArray(endpoints)) return false;
  return endpoints.some((endpoint) => {
    if (!isObject(endpoint) || !Array.isArray(endpoint.addresses) || endpoint.addresses.length === 0) return false;
    return !isObject(endpoint.conditions) || endpoint.conditions.ready !== false;
  });
}

/** Sends several requests concurrently; one response is enough. */
async function discover(api: RemoteApi, backend: Backend, client: ExtensionClient, signal: AbortSignal): Promise<Json> {
  const uri = `/apis/${api.group}/${api.version}`;
  const url = `https://${backend.host.includes(":") ? `[${backend.host}]` : backend.host}:${backend.port}${uri}`;
  const headers = { accept: "application/json", host: `${api.service.name}.${api.service.namespace}.svc` };
  const done = new AbortController();
  const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal: AbortSignal.any([signal, done.signal]) };
  const attempt = async (): Promise<Json> => {
    const { status, body } = await client
      .get(api, backend, { uri, headers, user: AGGREGATOR, ...limits })
      .catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        throw new Error(`failing or missing response from ${url}: Get "${url}": ${text}`);
      });
    if (status < 200 || status >= 300)
      throw new Error(`failing or missing response from ${url}: bad status from ${url}: ${status}`);
    try {
      return parseForeignJson(body);
    } catch {
      // Compat: only `resp.StatusCode` matters; an invalid body means no resources.
      return {};
    }
  };
  try {
    return await Promise.any(Array.from({ length: ATTEMPTS }, attempt));
  } catch (error) {
    throw (error as AggregateError).errors.at(-1);
  } finally {
    done.abort();
  }
}
