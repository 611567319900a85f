import { notFound, plainError } from "../../base/api/api-error.ts";
import { isObject, type JsonObject } from "../../base/api/object.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";

/** How nodes are reached, from the `--kubelet-*` flags. */
export interface KubeletOptions {
  /** Types of `status.addresses`, in order of preference. */
  readonly preferredAddressTypes: readonly string[];
  /** Returns the current client certificate for kubelets. */
  readonly certificate: () => { readonly cert: string; readonly key: string } | undefined;
  /** Returns the current CAs of kubelet certificates. Undefined: the certificates are not verified. */
  readonly ca: () => string | undefined;
  /** Connection timeout. */
  readonly timeoutMs: number;
}

/** Address of a node's kubelet. Upstream: `client.ConnectionInfo`. */
export interface NodeInfo {
  readonly host: string;
  readonly port: number;
  /** `status.declaredFeatures`. */
  readonly features: readonly string[];
}

const KUBELET_PORT = 10_250;

/** The part of a core/v1 NodeStatus that locates the kubelet. */
interface NodeStatus extends JsonObject {
  addresses?: { type: string; address: string }[];
  daemonEndpoints?: { kubeletEndpoint?: { Port?: number } };
  declaredFeatures?: string[];
}

/** Locates the kubelet of a node. Upstream: `NodeConnectionInfoGetter`. */
export async function locateNode(
  access: Pick<ObjectAccess, "find">,
  { preferredAddressTypes }: Pick<KubeletOptions, "preferredAddressTypes">,
  name: string,
  resource = "nodes",
): Promise<NodeInfo> {
  const node = await access.find("", "nodes", { namespace: "", name });
  // Compat: due to `qualifiedResourceFromContext`, the NotFound of a node contains the resource of the request, "pods".
  if (!node) throw notFound({ group: "", resource }, name);
  const status: NodeStatus = isObject(node.status) ? node.status : {};
  const { addresses = [], daemonEndpoints, declaredFeatures: features = [] } = status;
  const types = preferredAddressTypes.find((type) => addresses.some((one) => one.type === type));
  const found = addresses.find((one) => one.type === types);
  if (found === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
    throw plainError(500, `no preferred addresses found; known addresses: [${known}]`);
  }
  const port = daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return { host: found.address, port: port > 0 ? port : KUBELET_PORT, features };
}
