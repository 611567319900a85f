import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { AdmissionChain } from "./admission/chain.ts";
import { defaultPlugins, selectPlugins } from "./admission/default-plugins.ts";
import { ApiError } from "./api/api-error.ts";
import {
  type ApiRequest,
  BodyError,
  type Call,
  type Handler,
  type RequestBody,
  type Stage,
  type UserInfo,
} from "./api/call.ts";
import type { ApiReply } from "./api/reply.ts";
import { parseRequestInfo } from "./api/request-info.ts";
import { TokenAuthenticator } from "./auth/token-file.ts";
import { startBackground } from "./background.ts";
import type { Config } from "./config.ts";
import { createDefaultNamespaces } from "./controllers/default-namespaces.ts";
import type { EncodedReply } from "./encoding/encoded-reply.ts";
import { DecodeError, decodeJson } from "./encoding/json.ts";
import { negotiateInput, negotiateOutput } from "./encoding/negotiate.ts";
import { encodeError, encodeReply, offerOf } from "./encoding/reply.ts";
import { decodeBody } from "./encoding/request-body.ts";
import { decodeYaml } from "./encoding/yaml.ts";
import { discovery, discoveryPaths } from "./endpoints/discovery.ts";
import { type HealthCheck, health, healthPaths, PING } from "./endpoints/health.ts";
import { openApiHandler, openApiPaths } from "./endpoints/openapi.ts";
import { root } from "./endpoints/root.ts";
import { version } from "./endpoints/version.ts";
import { type Listener, listen } from "./http/listener.ts";
import { prepareIdentity } from "./identity.ts";
import { builtInKinds, builtInPriorities } from "./kinds/all.ts";
import { builtInSchema, findBuiltInSchema } from "./kinds/built-in-schemas.ts";
import { systemClock } from "./lib/clock.ts";
import { openStore } from "./open-store.ts";
import { answerErrors, authenticate, compose, limitDuration } from "./pipeline.ts";
import { release } from "./release.ts";
import { Catalog } from "./resources/catalog.ts";
import { KeySpace } from "./resources/keys.ts";
import { Resources } from "./resources/resources.ts";
import { type Endpoint, route } from "./router.ts";
import { dispatch } from "./verbs/dispatch.ts";

/** A running server. */
export interface Server {
  /** Where it answers over TLS. */
  readonly url: string;
  /** Where it answers without TLS, if it does. */
  readonly insecureUrl: string | undefined;
  /** A kubeconfig with which kubectl is an administrator here. */
  readonly kubeconfigFile: string;
  /** Ends watches, waits for open requests for a while, then closes the store. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 3 * 1024 * 1024;
const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };
const ADMINISTRATOR: UserInfo = {
  name: "binnacle:administrator",
  groups: ["system:masters", "system:authenticated"],
};

/** Builds all parts, connects them and listens. Rejects when the store or the address cannot be had. */
export async function startServer(config: Config): Promise<Server> {
  const log = pino({ name: "binnacle" }, pino.destination({ dest: 2, sync: true }));
  const keys = new KeySpace(config.etcdPrefix);
  const store = await openStore(config, keys.root);
  const catalog = new Catalog(builtInKinds(config.apiDomain));
  const resources = new Resources({ store, catalog, clock: systemClock, keys });
  await createDefaultNamespaces(resources);

  const admission = new AdmissionChain(selectPlugins(defaultPlugins(resources), config.disabledAdmissionPlugins));
  const deleteOptionsSchema = () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  const objects: Handler = (call) => dispatch({ resources, admission, deleteOptionsSchema }, call);
  const innermost = route({ catalog, objects, endpoints: makeEndpoints(resources, config) });
  const report = (error: unknown, call?: Call) => log.error({ err: error, path: call?.request.path }, "request failed");
  const stages = [answerErrors(report), limitDuration(config.requestTimeoutMs)];

  const identity = await prepareIdentity(config);
  const secured = compose([...stages, authenticate([new TokenAuthenticator(identity.tokens)]), negotiate], innermost);
  const open = compose([...stages, asAdministrator, negotiate], innermost);
  const reportError = (error: unknown) => report(error);
  const secure = await listen((request) => answer(secured, request), {
    host: config.bindAddress,
    port: config.securePort,
    tls: identity.tls,
    reportError,
  });
  const listeners: Listener[] = [secure];
  if (config.insecurePort !== undefined) {
    const options = { host: "127.0.0.1", port: config.insecurePort, reportError };
    listeners.push(await listen((request) => answer(open, request), options));
  }
  const background = startBackground(config, resources, identity.authority, (controller, error) =>
    log.error({ err: error, controller }, "controller failed"),
  );
  const url = `https://${printHost(config.bindAddress)}:${secure.port}`;
  await identity.saveKubeconfig(url);
  return {
    url,
    insecureUrl: listeners[1] && `http://127.0.0.1:${listeners[1].port}`,
    kubeconfigFile: identity.kubeconfigFile,
    async close() {
      await Promise.all(listeners.map((listener) => listener.close(config.shutdownGraceMs)));
      await background.stop();
      await store.close();
    },
  };
}

const asAdministrator = (next: Handler) => (call: Call) => {
  call.user = ADMINISTRATOR;
  return next(call);
};

const REPLY_TYPES: Readonly<Record<string, ApiReply["type"]>> = {
  list: "list",
  deletecollection: "list",
  watch: "watch",
};

/** Compat: a form that cannot be had is refused before anything is done. */
const negotiate: Stage = (next) => async (call) => {
  const { isResource, verb } = call.info;
  if (isResource)
    negotiateOutput(call.request, offerOf({ type: REPLY_TYPES[verb] ?? "object", table: ANY_TABLE }, false));
  return next(call);
};

// Which kind it is, and whether it has columns of its own, is judged when there is something to show.
const ANY_TABLE = { columns: [] };

/** One request from end to end. Never rejects with an ApiError. */
async function answer(handler: Handler, request: ApiRequest): Promise<EncodedReply> {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const warnings: string[] = [];
  const auditId = request.headers["audit-id"];
  const context = { warnings, auditId: typeof auditId === "string" ? auditId : randomUUID(), now: Date.now };
  const call: Call = { request, info, user: ANONYMOUS, warnings, body: (format) => readBody(request, format) };
  try {
    return encodeReply(request, await handler(call), context);
  } catch (error) {
    if (error instanceof ApiError) return encodeError(request, error, context);
    throw error;
  }
}

async function readBody(request: ApiRequest, format?: "json" | "yaml"): Promise<RequestBody> {
  const mediaType = format === undefined ? negotiateInput(request) : undefined;
  const bytes = await request.readBody(MAX_BODY_BYTES);
  const actual = format ?? (mediaType === "application/yaml" ? "yaml" : "json");
  if (bytes.length === 0) return { value: null, bytes, format: actual, duplicates: () => [] };
  try {
    const decode = format === "yaml" ? decodeYaml : decodeJson;
    const { value, duplicates } = mediaType === undefined ? decode(bytes) : decodeBody(bytes, mediaType);
    return { value, bytes, format: actual, duplicates };
  } catch (error) {
    if (error instanceof DecodeError) throw new BodyError(error.message, bytes);
    throw error;
  }
}

function printHost(address: string): string {
  if (address === "0.0.0.0" || address === "::") return "127.0.0.1";
  return address.includes(":") ? `[${address}]` : address;
}

function makeEndpoints(resources: Resources, config: Config): Endpoint[] {
  const { catalog, clock, store } = resources;
  const definitions = () => catalog.definitions;
  const source = { definitions, priority: builtInPriorities(config.apiDomain) };
  const storage: HealthCheck = { name: "etcd", check: async () => void (await store.revision()) };
  const checks = { healthz: [PING, storage], livez: [PING, storage], readyz: [PING, storage] };
  const openApi = openApiHandler({ definitions, component: findBuiltInSchema, release: release.version, clock });
  const paths = [...healthPaths(checks), ...openApiPaths, "/version"];
  const listed = discoveryPaths(source);
  const index = root(() => [...listed(), ...paths]);
  const versionReply = version(release.info);
  return [
    discovery(source),
    openApi,
    health(checks),
    (call) => (/^\/version\/?$/.test(call.request.path) ? versionReply(call) : undefined),
    (call) => (call.request.path === "/" || call.request.path === "/index.html" ? index(call) : undefined),
  ];
}
