import { badRequest, notFound, serviceUnavailable } from "../api/api-error.ts";
import { isObject } from "../api/object.ts";
import { quote } from "../lib/go/quote.ts";
import type { Random } from "../lib/random.ts";
import type { ObjectAccess } from "../resources/model/definition.ts";
import { podSpecOf } from "../types/pod.ts";
import { podStatusOf } from "../types/pod-status.ts";
import { specOf } from "../types/service.ts";
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

/** What finding the target of a proxy depends on. */
export interface TargetContext {
  readonly access: Pick<ObjectAccess, "find" | "list">;
  readonly kubelet: KubeletOptions;
  readonly rules: AddressRules;
  readonly random: Random;
  /** Functions in the place of nodes. */
  readonly handlers: Handlers;
  /** All addresses of a name. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Whether this server itself answers there. */
  readonly isSelf: (address: string, port: number) => boolean;
}

/** Reads the name of a proxy request. Throws BadRequest. Upstream: `SplitSchemeNamePort`. */
export function splitName(text: string, kind: string): ProxyName {
  const parts = text.split(":");
  const [scheme = "", name = "", port = ""] = parts.length > 2 ? parts : ["", ...parts];
  const isKnown = scheme === "" || scheme === "http" || scheme === "https";
  if (parts.length > 3 || name === "" || !isKnown) throw badRequest(`invalid ${kind} request ${quote(text)}`);
  return { scheme, name, port };
}

const notAllowed = () => badRequest("address not allowed");

/** Compat: certificates of pods and services are not verified, as by the `ProxyTransport` of kube-apiserver. */
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

/** Where a pod answers. Upstream: `pod.ResourceLocation`. */
export async function podTarget(context: TargetContext, namespace: string, id: string): Promise<Backend> {
  const parts = splitName(id, "pod");
  const pod = await findPod(context.access, { namespace, name: parts.name });
  const { podIPs = [], podIP = "" } = podStatusOf(pod);
  const address = podIPs[0]?.ip ?? podIP;
  if (!context.rules.allows(address)) throw notAllowed();
  if (parts.port !== "") return backendOf(parts, address, portNumber(parts.port, "pod", id));
  const { containers = [] } = podSpecOf(pod);
  const declared = containers.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
  return backendOf(parts, address, declared);
}

/** Where a service answers: one of its ready pods. Upstream: `REST.ResourceLocation`. */
export async function serviceTarget(context: TargetContext, namespace: string, id: string): Promise<Backend> {
  const parts = splitName(id, "service");
  const { access, rules, random } = context;
  const name = await portName(context, namespace, parts);
  const all = await access.list("discovery.k8s.io", "endpointslices", namespace, "any");
  const service = { name: parts.name, portName: name };
  for (const { endpoint, address, port } of readyEndpoints(all, service, random)) {
    if (!(await isPod(context, namespace, endpoint, address))) continue;
    if (!rules.allows(address)) throw notAllowed();
    return backendOf(parts, address, port);
  }
  throw serviceUnavailable(`no endpoints available for service ${quote(parts.name)}`);
}

/** The port of this machine that stands behind a service, if one does. */
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

/** The name of the port that is meant by its number. */
async function portName({ access }: TargetContext, namespace: string, { name, port }: ProxyName): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = await access.find("", "services", { namespace, name });
  if (!service) throw notFound({ group: "", resource: "services" }, name);
  const found = specOf(service).ports?.find((one) => one.port === Number(port));
  if (found) return found.name ?? "";
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${quote(name)}`);
}

/** Compat: `isValidAddress`: only addresses that a pod of the namespace has are connected with. */
async function isPod(
  { access }: TargetContext,
  namespace: string,
  { targetRef }: Endpoint,
  address: string,
): Promise<boolean> {
  if (!isObject(targetRef) || targetRef.namespace !== namespace) return false;
  const pod = await access.find("", "pods", { namespace, name: targetRef.name ?? "" });
  return pod !== undefined && (podStatusOf(pod).podIPs ?? []).some(({ ip }) => ip === address);
}

/** A node, and whether its kubelet is meant rather than another port. */
export interface NodeTarget extends Backend {
  readonly isKubelet: boolean;
}

/** Where a node answers: its kubelet, or another port. Upstream: `node.ResourceLocation`. */
export async function nodeTarget(context: TargetContext, id: string): Promise<NodeTarget> {
  const parts = splitName(id, "node");
  const { host, port } = await locateNode(context.access, context.kubelet, parts.name);
  const address = await resolveAllowed(context, host);
  if (parts.port === "" || parts.port === String(port)) {
    // Whoever writes nodes would have the server carry out requests of its own, by the certificate that kubelets know.
    if (context.isSelf(address, port)) throw notAllowed();
    return { host, port, address, tls: kubeletTls(context.kubelet), isKubelet: true };
  }
  const other = portNumber(parts.port, "node", id);
  const tls = parts.scheme === "https" ? { tls: UNVERIFIED } : {};
  return { host, port: other, address, ...tls, isKubelet: false };
}

/** The one address of a host that is connected with; all of them must be allowed. */
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

/** How a kubelet is known, and knows us. Compat: without `--kubelet-certificate-authority` its certificate is not verified. */
export function kubeletTls(
  { certificate, authority: currentAuthority }: KubeletOptions,
  skipsVerification = false,
): NonNullable<Backend["tls"]> {
  const authority = currentAuthority();
  const isVerified = authority !== undefined && !skipsVerification;
  return { rejectUnauthorized: isVerified, ...(isVerified && { ca: authority }), ...certificate() };
}
