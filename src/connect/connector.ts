import { badRequest, forbidden, invalid, unsupportedVerb } from "../api/api-error.ts";
import type { Authorizer } from "../api/attributes.ts";
import type { Call } from "../api/call.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import type { ApiReply } from "../api/reply.ts";
import type { HttpClient } from "../client/http-client.ts";
import { encodeQuery } from "../lib/go/url-escape.ts";
import type { ObjectKey } from "../resources/model/keys.ts";
import type { Connection, Connector, Target } from "../verbs/target.ts";
import type { Backend } from "./backend.ts";
import { passedHeaders } from "./exchange.ts";
import type { KubeletClient } from "./kubelet-client.ts";
import { logQuery, streamLog } from "./log.ts";
import { locateNode } from "./nodes.ts";
import {
  type LogOptions,
  optionsObject,
  readLogOptions,
  readPorts,
  readStreamOptions,
  type StreamOptions,
  validateLogOptions,
} from "./options.ts";
import { containerOf, findPod, nodeNameOf, requireNode } from "./pods.ts";
import { passOn, subpathOf, upgradeWith } from "./proxy/proxy.ts";
import { nodeTarget, podTarget, serviceTarget, type TargetContext } from "./proxy-targets.ts";

/** What connecting depends on. */
export interface ConnectContext extends TargetContext {
  readonly features: FeatureGates;
  readonly authorizer: Authorizer;
  readonly client: KubeletClient;
  /** For everything but kubelets. */
  readonly http: HttpClient;
}

type Prepare = (context: ConnectContext, call: Call, key: ObjectKey) => Connection;

/** Which subresources connect, by the resource and their own name. */
const CONNECTIONS: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  ["pods/attach", (context, call, key) => prepareStream(context, call, key, "attach")],
  ["pods/exec", (context, call, key) => prepareStream(context, call, key, "exec")],
  ["pods/log", prepareLog],
  ["pods/portforward", preparePortForward],
  ["pods/proxy", (context, call, key) => prepareProxy("PodProxyOptions", call, () => proxyPod(context, call, key))],
  [
    "services/proxy",
    (context, call, key) => prepareProxy("ServiceProxyOptions", call, () => proxyService(context, call, key)),
  ],
  ["nodes/proxy", (context, call, key) => prepareProxy("NodeProxyOptions", call, () => proxyNode(context, call, key))],
]);

/** Connects requests with nodes, pods and services. */
export function makeConnector(context: ConnectContext): Connector {
  return {
    prepare(call: Call, { resource, namespace, name, subresource }: Target): Connection {
      const { group, plural } = resource.definition;
      const prepare = group === "" ? CONNECTIONS.get(`${plural}/${subresource}`) : undefined;
      if (!prepare) throw unsupportedVerb({ group, resource: `${plural}/${subresource}` }, call.info.verb);
      return prepare(context, call, { namespace, name });
    },
  };
}

function prepareProxy(kind: string, call: Call, open: () => Promise<ApiReply>): Connection {
  return { options: optionsObject(kind, { path: subpathOf(call) }), open };
}

async function proxyPod(context: ConnectContext, call: Call, { namespace, name }: ObjectKey): Promise<ApiReply> {
  return passOn(call, await podTarget(context, namespace, name), context);
}

async function proxyService(context: ConnectContext, call: Call, { namespace, name }: ObjectKey): Promise<ApiReply> {
  return passOn(call, await serviceTarget(context, namespace, name), context);
}

async function proxyNode(context: ConnectContext, call: Call, { name }: ObjectKey): Promise<ApiReply> {
  const { isKubelet, ...backend } = await nodeTarget(context, name);
  const { client, http } = context;
  return passOn(call, backend, { http: isKubelet ? client.http : http, refusesRedirects: isKubelet });
}

function prepareLog(context: ConnectContext, call: Call, key: ObjectKey): Connection {
  const options = readLogOptions(call.request.query);
  return { options: undefined, open: () => openLog(context, call, key, options) };
}

const NO_CONTENT: ApiReply = { type: "raw", code: 204, headers: {}, body: "" };

async function openLog(context: ConnectContext, call: Call, key: ObjectKey, options: LogOptions): Promise<ApiReply> {
  const { access, features, kubelet, client } = context;
  const hasStreams = features.enabled("PodLogsQuerySplitStreams");
  const errors = validateLogOptions(options, hasStreams);
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, key.name, errors);
  const pod = await findPod(access, key);
  const container = containerOf(pod, options.container);
  const nodeName = nodeNameOf(pod);
  if (nodeName === "") return NO_CONTENT;
  const node = await locateNode(access, kubelet, nodeName, "pods");
  const query = logQuery(options, hasStreams ? (options.stream ?? "All") : undefined);
  const uri = withQuery(`/containerLogs/${key.namespace}/${key.name}/${container}`, query);
  const backend = await client.backend(node, options.insecureSkipTLSVerifyBackend);
  return streamLog(client, backend, uri, key.name, call.signal);
}

const withQuery = (path: string, query: string): string => (query === "" ? path : `${path}?${query}`);

function prepareStream(context: ConnectContext, call: Call, key: ObjectKey, name: "attach" | "exec"): Connection {
  const { command, ...options } = readStreamOptions(call.request.query);
  const kind = name === "exec" ? "PodExecOptions" : "PodAttachOptions";
  const members = { ...options, ...(name === "exec" && { command }) };
  return {
    options: optionsObject(kind, members),
    open: () => openStream(context, call, key, name, { ...options, command }),
  };
}

async function openStream(
  context: ConnectContext,
  call: Call,
  key: ObjectKey,
  name: "attach" | "exec",
  options: StreamOptions,
): Promise<ApiReply> {
  await ensureCreate(context, call);
  const pod = await findPod(context.access, key);
  const container = containerOf(pod, options.container);
  const node = await locateNode(context.access, context.kubelet, requireNode(pod), "pods");
  const parameters: [string, string][] = [];
  if (options.stdin) parameters.push(["input", "1"]);
  if (options.stdout) parameters.push(["output", "1"]);
  if (options.stderr) parameters.push(["error", "1"]);
  if (options.tty) parameters.push(["tty", "1"]);
  if (name === "exec") for (const word of options.command) parameters.push(["command", word]);
  const uri = withQuery(`/${name}/${key.namespace}/${key.name}/${container}`, encodeQuery(parameters));
  return tunnel(context, call, await context.client.backend(node), uri);
}

function preparePortForward(context: ConnectContext, call: Call, key: ObjectKey): Connection {
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
  const node = await locateNode(context.access, context.kubelet, requireNode(pod), "pods");
  const query = ports.length === 0 ? "" : encodeQuery([["port", ports.join(",")]]);
  const uri = withQuery(`/portForward/${key.namespace}/${key.name}`, query);
  return tunnel(context, call, await context.client.backend(node), uri);
}

/** Passes an upgrade on to the kubelet as it is. */
async function tunnel({ client }: ConnectContext, call: Call, backend: Backend, uri: string): Promise<ApiReply> {
  const { request, signal } = call;
  if (request.upgrade === "") throw badRequest("Upgrade request required");
  const head = { method: request.method, path: uri, headers: passedHeaders(request), signal };
  return upgradeWith(call, backend, client.http, head);
}

/**
 * Throws Forbidden for who may read but not create: a WebSocket begins with a GET. Upstream: `ensureAuthorizedForVerb` by the
 * feature gate AuthorizePodWebsocketUpgradeCreatePermission.
 */
async function ensureCreate({ features, authorizer }: ConnectContext, call: Call): Promise<void> {
  const { info, attributes } = call;
  if (info.verb === "create" || !features.enabled("AuthorizePodWebsocketUpgradeCreatePermission")) return;
  const { decision, reason = "" } = await authorizer.authorize({ ...attributes, verb: "create" });
  if (decision !== "allow") throw forbidden({ group: info.group, resource: info.resource }, info.name, reason);
}
