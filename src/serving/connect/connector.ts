import { invalid, unsupportedVerb } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";
import type { Connection, Connector, Target } from "../verbs/target.ts";
import type { ConnectContext } from "./context.ts";
import { serveLog } from "./handlers/serve-log.ts";
import { logQuery, streamLog } from "./log.ts";
import { locateNode } from "./nodes.ts";
import { type LogOptions, optionsObject, readLogOptions, validateLogOptions } from "./options.ts";
import { containerOf, findPod, nodeNameOf } from "./pods.ts";
import { passOn, subpathOf } from "./proxy/proxy.ts";
import { localTarget, nodeTarget, podTarget, serviceTarget } from "./proxy-targets.ts";
import { ensureCreate, handlersOf, prepareCommand, preparePortForward, requireHandler, withQuery } from "./streams.ts";

type Prepare = (context: ConnectContext, call: Call, key: ObjectKey) => Connection;

/** Connecting subresources, by resource and subresource name. */
const CONNECTIONS: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  ["pods/attach", (context, call, key) => prepareCommand(context, call, key, "attach")],
  ["pods/exec", (context, call, key) => prepareCommand(context, call, key, "exec")],
  ["pods/log", prepareLog],
  ["pods/portforward", preparePortForward],
  ["pods/proxy", (context, call, key) => prepareProxy("PodProxyOptions", call, () => proxyPod(context, call, key))],
  [
    "services/proxy",
    (context, call, key) => prepareProxy("ServiceProxyOptions", call, () => proxyService(context, call, key)),
  ],
  ["nodes/proxy", (context, call, key) => prepareProxy("NodeProxyOptions", call, () => proxyNode(context, call, key))],
]);

/** Creates the connector to nodes, pods and services. */
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
  const local = await localTarget(context, namespace, name);
  return passOn(call, local ?? (await serviceTarget(context, namespace, name)), context);
}

async function proxyNode(context: ConnectContext, call: Call, { name }: ObjectKey): Promise<ApiReply> {
  const { isKubelet, ...backend } = await nodeTarget(context, name);
  // Differs: kube-apiserver lets kubelets run commands for callers who may only `get` nodes/proxy, by a WebSocket to
  // /exec.
  if (isKubelet && call.request.upgrade !== "") await ensureCreate(context, call);
  const { client, http } = context;
  return passOn(call, backend, { http: isKubelet ? client.http : http, refusesRedirects: isKubelet });
}

function prepareLog(context: ConnectContext, call: Call, key: ObjectKey): Connection {
  const options = readLogOptions(call.request.query);
  return { options: undefined, open: () => openLog(context, call, key, options) };
}

const NO_CONTENT: ApiReply = { type: "raw", code: 204, headers: {}, body: "" };

async function openLog(context: ConnectContext, call: Call, key: ObjectKey, options: LogOptions): Promise<ApiReply> {
  const { access, features, kubelet, client, observer } = context;
  observer.logAsked(options.insecureSkipTLSVerifyBackend);
  const hasStreams = features.enabled("PodLogsQuerySplitStreams");
  const errors = validateLogOptions(options, hasStreams);
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, key.name, errors);
  const pod = await findPod(access, key);
  const container = containerOf(pod, options.container);
  const own = handlersOf(context, pod);
  if (own) {
    const { follow, previous, timestamps, tailLines, sinceSeconds, sinceTime, limitBytes } = options;
    const wanted = { follow, previous, timestamps, tailLines, sinceSeconds, sinceTime, limitBytes };
    return serveLog(requireHandler(own, "log"), { pod: own.pod, container, ...wanted, signal: call.signal });
  }
  const nodeName = nodeNameOf(pod);
  if (nodeName === "") return NO_CONTENT;
  const node = await locateNode(access, kubelet, nodeName, "pods");
  const query = logQuery(options, hasStreams ? (options.stream ?? "All") : undefined);
  const uri = withQuery(`/containerLogs/${key.namespace}/${key.name}/${container}`, query);
  const backend = await client.backend(node, options.insecureSkipTLSVerifyBackend);
  return streamLog(context, backend, uri, key.name, call.signal);
}
