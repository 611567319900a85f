import { badRequest, forbidden } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { encodeQuery } from "../../base/go/url-escape.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";
import type { Connection } from "../verbs/target.ts";
import type { Backend } from "./backend.ts";
import type { ConnectContext } from "./context.ts";
import { passedHeaders } from "./exchange.ts";
import type { PodHandlers } from "./handlers/handlers.ts";
import { locateNode, type NodeInfo } from "./nodes.ts";
import { optionsObject, readPorts, readStreamOptions, type StreamOptions } from "./options.ts";
import { containerOf, findPod, requireNode } from "./pods.ts";
import { servePorts } from "./port-forward/serve-ports.ts";
import { tunnel, tunneledProtocols } from "./port-forward/tunnel.ts";
import { upgradeWith } from "./proxy/proxy.ts";
import { serveCommand } from "./remote-command/serve-command.ts";
import { translate } from "./remote-command/translate.ts";
import { WebSocketSession } from "./remote-command/websocket-session.ts";

const TRANSLATED = "v5.channel.k8s.io";

/** Prepares exec and attach. Upstream: `ExecREST` and `AttachREST`. */
export function prepareCommand(
  context: ConnectContext,
  call: Call,
  key: ObjectKey,
  name: "attach" | "exec",
): Connection {
  const options = readStreamOptions(call.request.query);
  const { command, ...streams } = options;
  const members = name === "exec" ? { ...streams, command } : streams;
  return {
    options: optionsObject(name === "exec" ? "PodExecOptions" : "PodAttachOptions", members),
    open: () => openCommand(context, call, key, name, options),
  };
}

async function openCommand(
  context: ConnectContext,
  call: Call,
  key: ObjectKey,
  name: "attach" | "exec",
  options: StreamOptions,
): Promise<ApiReply> {
  await ensureCreate(context, call);
  const pod = await findPod(context.access, key);
  const container = containerOf(pod, options.container);
  const own = handlersOf(context, pod);
  if (own) {
    requireUpgrade(call);
    return serveCommand(call, { pod: own.pod, container, options, run: requireHandler(own, name) });
  }
  const node = await locateNode(context.access, context.kubelet, requireNode(pod), "pods");
  const path = withQuery(`/${name}/${key.namespace}/${key.name}/${container}`, commandQuery(name, options));
  const backend = await context.client.backend(node);
  const canTranslate = isRoutedHere(context, node, name, "TranslateStreamCloseWebsocketRequests");
  requireUpgrade(call);
  const isTranslated = canTranslate && webSocketProtocols(call).includes(TRANSLATED);
  if (!isTranslated) return passUpgrade(context, call, backend, path);
  const { client, clock, observer } = context;
  return {
    type: "connect",
    over: "websocket",
    protocols: [TRANSLATED],
    async run(channel) {
      const session = new WebSocketSession(channel, options);
      const left = new AbortController();
      const signal = AbortSignal.any([call.signal, left.signal]);
      session
        .receive()
        .catch(() => {})
        .finally(() => left.abort());
      const target = { http: client.http, backend, path, clock };
      const status = await translate(session, target, options, signal);
      // Compat: `StreamTranslatorHandler` counts neither an exit code nor a client disconnect as failure.
      observer.translated(typeof status.code === "number" && !signal.aborted ? status.code : 200);
      await session.finish(status);
    },
  };
}

/** The query of a command request to the kubelet. Upstream: `streamParams`. */
function commandQuery(name: "attach" | "exec", { stdin, stdout, stderr, tty, command }: StreamOptions): string {
  const parameters: [string, string][] = [];
  if (stdin) parameters.push(["input", "1"]);
  if (stdout) parameters.push(["output", "1"]);
  if (stderr) parameters.push(["error", "1"]);
  if (tty) parameters.push(["tty", "1"]);
  if (name === "exec") for (const word of command) parameters.push(["command", word]);
  return encodeQuery(parameters);
}

/** Prepares port-forward. Upstream: `PortForwardREST`. */
export function preparePortForward(context: ConnectContext, call: Call, key: ObjectKey): Connection {
  const ports = readPorts(call.request.query);
  return {
    options: optionsObject("PodPortForwardOptions", { ports }),
    open: () => openPortForward(context, call, key, ports),
  };
}

async function openPortForward(
  context: ConnectContext,
  call: Call,
  key: ObjectKey,
  ports: readonly number[],
): Promise<ApiReply> {
  await ensureCreate(context, call);
  const pod = await findPod(context.access, key);
  const own = handlersOf(context, pod);
  if (own) {
    requireUpgrade(call);
    return servePorts(call, ports, requireHandler(own, "port"));
  }
  const node = await locateNode(context.access, context.kubelet, requireNode(pod), "pods");
  const query = ports.length === 0 ? "" : encodeQuery([["port", ports.join(",")]]);
  const path = withQuery(`/portForward/${key.namespace}/${key.name}`, query);
  const backend = await context.client.backend(node);
  const canTunnel = isRoutedHere(context, node, "portforward", "PortForwardWebsockets");
  requireUpgrade(call);
  const protocols = canTunnel ? tunneledProtocols(webSocketProtocols(call)) : [];
  if (protocols.length === 0) return passUpgrade(context, call, backend, path);
  return tunnel(call, context, { backend, path, protocols });
}

/** The handlers that replace the pod's kubelet, with a copy of the pod. Undefined if there are none. */
export function handlersOf(
  { handlers }: Pick<ConnectContext, "handlers">,
  pod: KubeObject,
): { readonly pod: KubeObject; readonly by: PodHandlers } | undefined {
  if (!handlers.pod) return undefined;
  const copy = cloneJson(pod);
  const by = handlers.pod(copy);
  return by && { pod: copy, by };
}

/** Returns a handler of a pod. Throws BadRequest if the pod has no such handler. */
export function requireHandler<Name extends keyof PodHandlers>(
  { pod, by }: { readonly pod: KubeObject; readonly by: PodHandlers },
  name: Name,
): NonNullable<PodHandlers[Name]> {
  const handler = by[name];
  if (!handler) throw badRequest(`pod ${pod.metadata.name} has no handler for ${name}`);
  return handler as NonNullable<PodHandlers[Name]>;
}

/** Appends a query to a path, unless it is empty. */
export const withQuery = (path: string, query: string): string => (query === "" ? path : `${path}?${query}`);

function requireUpgrade({ request }: Call): void {
  if (request.upgrade === "") throw badRequest("Upgrade request required");
}

/** Forwards an upgrade to the kubelet unchanged. */
function passUpgrade({ client }: ConnectContext, call: Call, backend: Backend, path: string): Promise<ApiReply> {
  const { request, signal } = call;
  const head = { method: request.method, path, headers: passedHeaders(request), signal };
  return upgradeWith(call, backend, client.http, head);
}

/** The subprotocols that a client offers. Empty if it did not request a WebSocket. */
function webSocketProtocols({ request }: Call): string[] {
  if (request.upgrade !== "websocket") return [];
  const lines = [request.headers["sec-websocket-protocol"] ?? ""].flat() as string[];
  return lines.flatMap((line) => line.split(",").map((name) => name.trim()));
}

/**
 * Whether this server translates or tunnels WebSockets instead of the kubelet, depending on a feature gate. Compat:
 * `IncWebSocketStreamingRequest` counts every stream, including SPDY.
 */
function isRoutedHere(
  { features, observer }: ConnectContext,
  node: NodeInfo,
  subresource: string,
  gate: "PortForwardWebsockets" | "TranslateStreamCloseWebsocketRequests",
): boolean {
  if (!features.enabled(gate)) return false;
  const isNodes = features.enabled("ExtendWebSocketsToKubelet") && node.features.includes("ExtendWebSocketsToKubelet");
  observer.routed(subresource, isNodes ? "proxied_to_kubelet" : "translated_at_apiserver");
  return !isNodes;
}

/**
 * Throws Forbidden if the caller may read but not create, because a WebSocket request is a GET. Upstream:
 * `ensureAuthorizedForVerb`, enabled by the feature gate AuthorizePodWebsocketUpgradeCreatePermission.
 */
export async function ensureCreate({ features, authorizer }: ConnectContext, call: Call): Promise<void> {
  const { info, attributes } = call;
  if (info.verb === "create" || !features.enabled("AuthorizePodWebsocketUpgradeCreatePermission")) return;
  const { decision, reason = "" } = await authorizer.authorize({ ...attributes, verb: "create" });
  if (decision !== "allow") throw forbidden({ group: info.group, resource: info.resource }, info.name, reason);
}
