import { duplexPair } from "node:stream";
import { badRequest, notFound, serviceUnavailable } from "../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { Random } from "../../base/util/random.ts";
import { podSpecOf } from "../../kinds/types/pod.ts";
import { podStatusOf } from "../../kinds/types/pod-status.ts";
import { specOf } from "../../kinds/types/service.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";
import type { AddressRules } from "./addresses.ts";
import type { Backend } from "./backend.ts";
import { type Endpoint, readyEndpoints } from "./endpoints.ts";
import type { Handlers } from "./handlers/handlers.ts";
import { LOCAL_ADDRESS, localService } from "./handlers/local-service.ts";
import { type KubeletOptions, locateNode } from "./nodes.ts";
import { findPod } from "./pods.ts";

/** The parts of `{scheme:}name{:port}`. */
export interface ProxyName {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  readonly port: string;
}

/** Dependencies of locating a proxy target. */
export interface TargetContext {
  readonly access: Pick<ObjectAccess, "find" | "list">;
  readonly kubelet: KubeletOptions;
  readonly rules: AddressRules;
  readonly random: Random;
  /** Functions that replace nodes. */
  readonly handlers: Handlers;
  /** Resolves all addresses of a host name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Whether this server itself listens there. */
  readonly isSelf: (address: string, port: number) => boolean;
}

/** Parses the name of a proxy request. Throws BadRequest. Upstream: `SplitSchemeNamePort`. */
export function splitName(text: string, kind: string): ProxyName {
  const parts = text.split(":");
  const [scheme = "", name = "", port = ""] = parts.length > 2 ? parts : ["", ...parts];
  const isKnown = scheme === "" || scheme === "http" || scheme === "https";
  if (parts.length > 3 || name === "" || !isKnown) throw badRequest(`invalid ${kind} request ${quote(text)}`);
  return { scheme, name, port };
}

const notAllowed = () => badRequest("address not allowed");

/** Compat: certificates of pods and services are not verified, as with kube-apiserver's `ProxyTransport`. */
const UNVERIFIED = { rejectUnauthorized: false };

function backendOf({ scheme }: ProxyName, address: string, port: number | undefined): Backend {
  const isTls = scheme === "https";
  const tls = isTls ? { tls: UNVERIFIED } : {};
  return { host: address, address, port: port ?? (isTls ? 443 : 80), ...tls };
}

function portNumber(text: string, kind: string, id: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535 || Number(text) === 0) {
    throw badRequest(`invalid ${kind} request ${quote(id)}`);
  }
  return Number(text);
}

/** Locates a pod. Upstream: `pod.ResourceLocation`. */
export async function podTarget(context: TargetContext, namespace: string, id: string): Promise<Backend> {
  const parts = splitName(id, "pod");
  const pod = await findPod(context.access, { namespace, name: parts.name });
  const { podIPs = [], podIP = "" } = podStatusOf(pod);
  const address = podIPs[0]?.ip ?? podIP;
  const serve = portHandler(context, pod);
  if (serve === undefined && !context.rules.allows(address)) throw notAllowed();
  const { containers = [] } = podSpecOf(pod);
  const declared = containers.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
  const port = parts.port === "" ? declared : portNumber(parts.port, "pod", id);
  const target = backendOf(parts, address, port);
  return serve ? handledTarget(serve, target) : target;
}

type PortHandler = NonNullable<ReturnType<NonNullable<TargetContext["handlers"]["pod"]>>>["port"];

/** What serves the ports of a pod instead of its address. */
const portHandler = ({ handlers }: TargetContext, pod: KubeObject): PortHandler => handlers.pod?.(cloneJson(pod))?.port;

/** A target whose port a handler serves. */
function handledTarget(serve: NonNullable<PortHandler>, target: Backend): Backend {
  const connect = () => {
    const [near, far] = duplexPair();
    const closed = new AbortController();
    near.once("close", () => closed.abort());
    serve(target.port, far, closed.signal)
      .then(() => far.end())
      .catch((error: Error) => near.destroy(error));
    return near;
  };
  return { host: target.host, address: target.address, port: target.port, connect };
}

/** Locates a ready pod of a service. Upstream: `REST.ResourceLocation`. */
export async function serviceTarget(context: TargetContext, namespace: string, id: string): Promise<Backend> {
  const parts = splitName(id, "service");
  const { access, rules, random } = context;
  const name = await portName(context, namespace, parts);
  const all = await access.list("discovery.k8s.io", "endpointslices", namespace, "any");
  const service = { name: parts.name, portName: name };
  for (const { endpoint, address, port } of readyEndpoints(all, service, random)) {
    const pod = await findEndpointPod(context, namespace, endpoint, address);
    if (pod === undefined) continue;
    const target = backendOf(parts, address, port);
    const serve = portHandler(context, pod);
    if (serve) return handledTarget(serve, target);
    if (!rules.allows(address)) throw notAllowed();
    return target;
  }
  throw serviceUnavailable(`no endpoints available for service ${quote(parts.name)}`);
}

/** The local port behind a service. Undefined if there is none. */
export async function localTarget(
  { access, handlers }: Pick<TargetContext, "access" | "handlers">,
  namespace: string,
  id: string,
): Promise<Backend | undefined> {
  if (!handlers.service) return undefined;
  const parts = splitName(id, "service");
  const service = await access.find("", "services", { namespace, name: parts.name });
  const local = service && localService(handlers, service, parts.port);
  return local && backendOf(parts, LOCAL_ADDRESS, local.port);
}

/** The name of a port, given its name or number. */
async function portName({ access }: TargetContext, namespace: string, { name, port }: ProxyName): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = await access.find("", "services", { namespace, name });
  if (!service) throw notFound({ group: "", resource: "services" }, name);
  const found = specOf(service).ports?.find((one) => one.port === Number(port));
  if (found) return found.name ?? "";
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${quote(name)}`);
}

/** The pod of an endpoint. Compat: `isValidAddress`: only addresses of pods in the namespace are allowed. */
async function findEndpointPod(
  { access }: TargetContext,
  namespace: string,
  { targetRef }: Endpoint,
  address: string,
): Promise<KubeObject | undefined> {
  if (!isObject(targetRef) || targetRef.namespace !== namespace) return undefined;
  const pod = await access.find("", "pods", { namespace, name: targetRef.name ?? "" });
  return pod && (podStatusOf(pod).podIPs ?? []).some(({ ip }) => ip === address) ? pod : undefined;
}

/** A node, and whether the target is its kubelet or another port. */
export interface NodeTarget extends Backend {
  readonly isKubelet: boolean;
}

/** Locates the kubelet or another port of a node. Upstream: `node.ResourceLocation`. */
export async function nodeTarget(context: TargetContext, id: string): Promise<NodeTarget> {
  const parts = splitName(id, "node");
  const { host, port } = await locateNode(context.access, context.kubelet, parts.name);
  const address = await resolveAllowed(context, host);
  if (parts.port === "" || parts.port === String(port)) {
    // Otherwise a writer of nodes could make the server send requests to itself with the kubelet client certificate.
    if (context.isSelf(address, port)) throw notAllowed();
    return { host, port, address, tls: kubeletTls(context.kubelet), isKubelet: true };
  }
  const other = portNumber(parts.port, "node", id);
  const tls = parts.scheme === "https" ? { tls: UNVERIFIED } : {};
  return { host, port: other, address, ...tls, isKubelet: false };
}

/** Resolves a host to one address. Throws BadRequest unless all its addresses are allowed. */
export async function resolveAllowed(
  { resolve, rules }: Pick<TargetContext, "resolve" | "rules">,
  host: string,
): Promise<string> {
  const addresses = await resolve(host).catch(() => {
    throw badRequest(`lookup ${host}: no such host`);
  });
  const [first] = addresses;
  if (first === undefined) throw badRequest("no addresses for hostname");
  if (!addresses.every((address) => rules.allows(address))) throw notAllowed();
  return first;
}

/** TLS options for kubelets. Compat: without `--kubelet-certificate-authority` their certificates are not verified. */
export function kubeletTls(
  { certificate, ca: currentCa }: KubeletOptions,
  skipsVerification = false,
): NonNullable<Backend["tls"]> {
  const ca = currentCa();
  const isVerified = ca !== undefined && !skipsVerification;
  return { rejectUnauthorized: isVerified, ...(isVerified && { ca }), ...certificate() };
}
