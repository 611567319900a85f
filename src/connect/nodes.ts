import { notFound, plainError } from "../api/api-error.ts";
import { isObject, type JsonObject } from "../api/object.ts";
import type { ObjectAccess } from "../resources/model/definition.ts";

/** How nodes are reached, by the flags `--kubelet-*`. */
export interface KubeletOptions {
  /** The types of `status.addresses` in the order in which they are tried. */
  readonly preferredAddressTypes: readonly string[];
  /** By which nodes know this server, now. */
  readonly certificate: () => { readonly cert: string; readonly key: string } | undefined;
  /** Who signs the certificates of nodes, now. Undefined: these are not verified. */
  readonly authority: () => string | undefined;
  /** How long making a connection with a node may take. */
  readonly timeoutMs: number;
}

/** Where a node's kubelet answers. Upstream: `client.ConnectionInfo`. */
export interface NodeInfo {
  readonly host: string;
  readonly port: number;
  /** `status.declaredFeatures`. */
  readonly features: readonly string[];
}

const KUBELET_PORT = 10_250;

/** NodeStatus of core/v1, as far as it says where the kubelet is. */
interface NodeStatus extends JsonObject {
  addresses?: { type: string; address: string }[];
  daemonEndpoints?: { kubeletEndpoint?: { Port?: number } };
  declaredFeatures?: string[];
}

/** Where the kubelet of a node is. Upstream: `NodeConnectionInfoGetter`. */
export async function locateNode(
  access: Pick<ObjectAccess, "find">,
  { preferredAddressTypes }: Pick<KubeletOptions, "preferredAddressTypes">,
  name: string,
  resource = "nodes",
): Promise<NodeInfo> {
  const node = await access.find("", "nodes", { namespace: "", name });
  // Compat: `qualifiedResourceFromContext` makes the NotFound of a node name the resource of the request, "pods".
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
