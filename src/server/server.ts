import { explainAdmissionEndpoint } from "../admission/explain/explain-endpoint.ts";
import type { Call, Handler } from "../api/call.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { explainEndpoint } from "../auth/explain/explain-request.ts";
import { withExplainRight } from "../auth/explain/explain-right.ts";
import { reviewIdentities } from "../auth/reviews.ts";
import { union } from "../auth/union.ts";
import { applyKinds } from "../custom/coded-kind.ts";
import { type Answer, type Listener, listen } from "../http/listener.ts";
import { serveUpgradesOnDemand } from "../http/upgrades.ts";
import { systemClock } from "../lib/clock.ts";
import type { Environment, Log } from "../lib/environment.ts";
import { MetricRegistry } from "../lib/metrics.ts";
import { answer } from "../pipeline/answer.ts";
import { authenticate, keepUser } from "../pipeline/authenticate.ts";
import { impersonate } from "../pipeline/impersonate.ts";
import { callInProcess } from "../pipeline/in-process.ts";
import { assumeUser } from "../pipeline/local-only.ts";
import { logRequests } from "../pipeline/log-requests.ts";
import { measure } from "../pipeline/measure.ts";
import { compose, stagesFor } from "../pipeline/pipeline.ts";
import { route } from "../pipeline/router.ts";
import type { Resources } from "../resources/resources.ts";
import { openDescriptions } from "../schema-files/document-descriptions.ts";
import { ObservedStore } from "../storage/observed-store.ts";
import { prepareAccountTokens } from "./account-tokens.ts";
import { prepareAdmission } from "./admission/prepare-admission.ts";
import { prepareAudit } from "./audit.ts";
import { type Authentication, logRefusal, prepareAuthentication } from "./authentication.ts";
import { configuredAuthorizers } from "./authorization/configured-authorizers.ts";
import { authorization } from "./authorization.ts";
import { background } from "./background.ts";
import { putFirstObjects } from "./bootstrap/first-objects.ts";
import { carefulLog } from "./careful-log.ts";
import { renewCertificate, type ServingPair } from "./certificate-renewal.ts";
import type { Config } from "./config.ts";
import { openAggregation } from "./connect/aggregation.ts";
import { prepareConnect } from "./connect/prepare.ts";
import { customKinds } from "./custom-kinds.ts";
import { makeEndpoints } from "./endpoints.ts";
import { type Identity, prepareIdentity } from "./identity.ts";
import type { GivenParts } from "./library/given-parts.ts";
import { limitedLog } from "./limited-log.ts";
import { loopbackClients } from "./loopback.ts";
import { admissionWebhookMetrics } from "./metrics/admission-webhook-metrics.ts";
import { authenticationMetrics } from "./metrics/authentication-metrics.ts";
import { authorizationMetrics, webhookMetrics } from "./metrics/authorization-metrics.ts";
import { manifestMetrics } from "./metrics/manifest-metrics.ts";
import { policyMetrics } from "./metrics/policy-metrics.ts";
import { ProcessMetrics, processorMs, startTimeMetric } from "./metrics/process-metrics.ts";
import { releaseMetrics } from "./metrics/release-metrics.ts";
import { StoreMetrics } from "./metrics/store-metrics.ts";
import { keySpaceOf } from "./object-kinds.ts";
import { objectHandler, objectParts } from "./object-parts.ts";
import { openStore } from "./open-store.ts";
import { pathFacts } from "./path-facts.ts";
import { externalAddress, localUrl } from "./reachable-address.ts";
import { PostStartHook, shutdownCheck, writesCheck } from "./readiness.ts";
import { StallWatchdog } from "./stall-watchdog.ts";
import { offloading } from "./threads/offloading.ts";
import { WebhookClient } from "./webhooks/webhook-client.ts";

/** A running server. */
export interface Server extends AsyncDisposable {
  /** Where it answers over TLS. */
  readonly url: string;
  /** Where it answers without TLS, if it does. */
  readonly insecureUrl: string | undefined;
  /** The authority that signed its certificate, as PEM. */
  readonly ca: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The text of a kubeconfig with which kubectl is an administrator here. */
  readonly kubeconfig: string;
  /** Where that was written. Undefined without `certDir`. */
  readonly kubeconfigFile: string | undefined;
  /** Turns `/readyz` to failed, then ends watches, waits for open requests for a while, and closes the store. */
  close(): Promise<void>;
}

/** All parts of a server, connected, but not reachable yet. */
export interface Assembly {
  readonly resources: Resources;
  readonly ready: Promise<void>;
  readonly identity: Identity;
  readonly authentication: Authentication;
  readonly log: Log;
  /** Answers those who come with credentials. */
  readonly secured: Answer;
  /** Takes everybody for an administrator. */
  readonly open: Answer;
  /** Answers calls of this process, which name their user: see `callInProcess`. */
  readonly inProcess: Handler;
  readonly reportError: (error: unknown) => void;
  /** Starts the loops, once it is known under which port clients find the server. */
  start(port: number): void;
  /** `/readyz` fails from now on. Resolves when nobody finds this server any more by what is stored. */
  stop(): Promise<void>;
}

/** Builds all parts, connects them and listens. Rejects, and leaves nothing open, when the store or the address cannot be had. */
export async function startServer(config: Config, environment: Environment, given?: GivenParts): Promise<Server> {
  const { resources: _, ready: __, ...server } = await startWithParts(config, environment, given);
  return server;
}

/** A running server with the catalog and all objects within reach. Only for this project: it may change at any time. */
export interface ServerWithParts extends Server {
  readonly resources: Resources;
  /** Resolves when the roles that Kubernetes needs are there, and `/readyz` says so. */
  readonly ready: Promise<void>;
}

/** The same as `startServer`, for tests that change what is served. */
export async function startWithParts(
  config: Config,
  environment: Environment,
  given: GivenParts = {},
): Promise<ServerWithParts> {
  const opened = new AsyncDisposableStack();
  try {
    return await build(config, environment, given, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Builds all parts and connects them. Whatever has to be closed again goes onto `opened`, what is to be closed first last. */
export async function assemble(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Promise<Assembly> {
  const { clock, random } = environment;
  const lines = limitedLog(environment.log, clock);
  const log = carefulLog(lines);
  const shown = { "/metrics": new MetricRegistry(), "/metrics/slis": new MetricRegistry() };
  const registry = shown["/metrics"];
  const storeMetrics = new StoreMetrics(registry, clock);
  // All of them wait for files or for the network.
  const storing = Promise.resolve(given.store ?? openStore(config, keySpaceOf(config).root, clock, storeMetrics));
  opened.defer(() => storing.then((store) => store.close(), noop));
  const preparing = Promise.all([
    given.identity ?? prepareIdentity(config, log),
    prepareAccountTokens(config, log, given.accountKey),
  ]);
  preparing.catch(noop);
  const inner = await storing;
  const isPrepared = given.isGuest || (await putFirstObjects(config, inner, environment));
  const [identity, accounts] = await preparing;
  const store = new ObservedStore(inner, {
    clock,
    requestEnded: storeMetrics.requestEnded,
    failed: (error) => log.error("the store takes no writes", { err: error }),
    recovered: () => log.info("the store takes writes again"),
  });
  const parts = objectParts(config, store, environment, accounts.issuer, () => rights.roles);
  const { resources, schemaOf } = parts;
  const { catalog } = resources;
  storeMetrics.follow(catalog, resources.keys, store);
  releaseMetrics(registry, resources.features);
  const decisions = authorizationMetrics(registry);
  const attempts = authenticationMetrics(registry);
  const authorizers = await configuredAuthorizers(config.authorization, { clock, log });
  const rights = await authorization({
    authorizers: authorizers.initial,
    source: resources,
    environment: { clock, random, log },
    observer: { ...webhookMetrics(registry), decided: decisions.decided },
    report: (error) => log.error("roles cannot be followed", { err: error }),
  });
  opened.defer(() => rights.close());
  const reloading = authorizers.follow(rights.replace);
  opened.defer(() => reloading.close());
  const { authorizer } = rights;
  const { audiences } = accounts.issuer;
  const authentication = await prepareAuthentication({
    config,
    identity,
    resources,
    environment: { ...environment, log },
    audiences,
    modes: authorizers.initial.map(({ type }) => type),
    tokens: attempts,
    accounts: union([
      ...(given.tokens ? [given.tokens] : []),
      accounts.authenticator(resources, () => clients.apiServer),
    ]),
  });
  opened.defer(() => authentication.close());
  const { authenticator, proxyHeaders } = authentication;
  const identities = reviewIdentities(authenticator, audiences, authorizer);
  const judges = { authorizer, identities, rights: rights.roles };
  const { aggregator, resolve, ...aggregation } = await openAggregation(
    resources,
    config,
    environment,
    given.isOffline,
  );
  opened.defer(() => aggregation.close());
  const unfollowed = (error: unknown) => log.error("definitions cannot be followed", { err: error });
  const webhooks = new WebhookClient({ clock, resolve, isOffline: given.isOffline });
  opened.defer(() => webhooks.close());
  const custom = customKinds(resources, config, unfollowed, aggregator, webhooks);
  const observer = { ...admissionWebhookMetrics(registry), ...policyMetrics(registry) };
  const manifests = manifestMetrics(registry, clock);
  const rules = { resources, authorizer, client: webhooks, observer, log, manifests };
  const dynamic = await prepareAdmission(config.admission, rules);
  opened.defer(() => dynamic.close());
  const { open: openKinds } = custom;
  const isOpen = openKinds && ((info: RequestInfo) => openKinds.takes(info));
  const connector = await prepareConnect(config.connect, resources, { authorizer, registry, log, ownPort: () => port });
  opened.defer(() => connector.close());
  const objects = objectHandler(config, parts, judges, registry, {
    open: openKinds,
    connector,
    dynamic: dynamic.plugins,
  });
  const stopping = new AbortController();
  const shutdown = shutdownCheck(stopping.signal);
  const startMs = clock.now();
  if (!given.isGuest) {
    const processMetrics = new ProcessMetrics(registry, { startMs, views: () => resources.views.usage });
    opened.defer(() => processMetrics.close());
  }
  startTimeMetric(shown["/metrics/slis"], startMs);
  const roles = new PostStartHook("rbac/bootstrap-roles");
  const checks = { hooks: [roles], readiness: [writesCheck(store), roles, shutdown] };
  let { securePort: port } = config;
  const documents = accounts.documents(() => externalAddress(config, port));
  const descriptions = await openDescriptions(config.openapiDescriptions);
  const endpoints = [
    ...makeEndpoints(resources, config, checks, { shown, startMs, documents }, aggregator, descriptions),
    explainEndpoint({ authorizer, source: rights.grants, catalog }),
    explainAdmissionEndpoint({ catalog, authorizer, send: (write) => callInProcess(inProcess, write, random) }),
  ];
  const innermost = route({ catalog, objects, endpoints, isOpen, remote: aggregator.pass });
  const report = (error: unknown, call?: Call) => log.error("request failed", { err: error, path: call?.request.path });
  const facts = pathFacts(catalog, isOpen);
  const { isLongRunning, findServed, hasTable, isUnstructured, kindOf } = facts;
  const large = offloading({
    config,
    environment: { clock, random, log },
    lines,
    resources,
    judges,
    issuer: accounts.issuer,
    facts,
    registry,
    isOpen,
    observer,
    concernsOnlyThisThread: dynamic.concernsOnlyThisThread,
  });
  const outer = route({ catalog, objects: large.stage(objects), endpoints, isOpen, remote: aggregator.pass });
  const forms = { now: () => clock.now(), random, report, schemaOf, kindOf, isLarge: large.isLarge };
  const { requestTimeoutMs } = config;
  const audit = await prepareAudit(config.audit, { ...environment, log }, registry);
  opened.defer(() => audit.close());
  const options = {
    reportError: report,
    audit: audit.stages(facts, forms),
    impersonate: impersonate(authorizer, resources.features.enabled("ConstrainedImpersonation")),
    identified: given.stages?.identified,
    authorizer: withExplainRight(authorizer),
    authorized: decisions.authorized,
    measure: measure({ registry, clock, findServed, isLongRunning }),
    requestTimeoutMs,
    clock,
    isLongRunning,
    hasTable,
    isUnstructured,
    isRemote: (info: RequestInfo) => facts.isPassedOn(info) || aggregator.passes(info.path),
  };
  const refused = (error: unknown) => logRefusal(log, error);
  const identify = authenticate({ authenticator, audiences, proxyHeaders, refused, observer: { clock, ...attempts } });
  const watchdog = new StallWatchdog({ clock, processorMs, log, registry, findServed, isLongRunning });
  opened.defer(() => watchdog.close());
  const outermost = given.stages ? [given.stages.outermost] : [];
  const logged = config.logRequests ? [logRequests({ clock, log: carefulLog(environment.log) })] : [];
  const first = [watchdog.stage, ...logged, ...outermost];
  const secured = compose([...first, ...stagesFor(options, identify)], outer);
  const open = compose([...first, ...stagesFor(options, assumeUser(identity.admin.user))], outer);
  const inProcess = compose([...outermost, ...stagesFor(options, keepUser)], innermost);
  const clients = loopbackClients(inProcess, random);
  const ready = Promise.withResolvers<void>();
  const loops = background({
    config,
    resources,
    authority: identity.authority,
    clients,
    trust: { current: () => authentication.trust(), onChange: (listener) => authentication.onChange(listener) },
    report: (controller, error) => log.error("controller failed", { err: error, controller }),
    further: (context) => custom.controllers(context),
    isGuest: given.isGuest ?? false,
    isPrepared,
    rolesMade: () => {
      roles.finish();
      ready.resolve();
    },
  });
  const following = new AbortController();
  const followed = [rights.run(following.signal), custom.run(following.signal), dynamic.run(following.signal)];
  opened.defer(async () => {
    following.abort();
    await Promise.all(followed);
  });
  opened.defer(() => large.close());
  opened.defer(() => loops.stop());
  await rights.loaded(following.signal);
  await custom.loaded(following.signal);
  await dynamic.loaded(following.signal);
  await loops.prepare();
  // Those of a guest are stored already.
  const kinds = given.isGuest ? [] : (config.kinds ?? []);
  return {
    resources,
    ready: ready.promise.then(() => applyKinds(kinds, resources, clients.apiServer, stopping.signal)),
    identity,
    authentication,
    log,
    secured: (request) => answer(forms, secured, request),
    open: (request) => answer(forms, open, request),
    inProcess,
    reportError: (error) => report(error),
    start(chosen) {
      port = chosen;
      loops.start(chosen);
      // A clock that is driven knows nothing of how long something took.
      if (clock === systemClock) watchdog.start();
    },
    async stop() {
      stopping.abort();
      await loops.leave();
    },
  };
}

/** All parts, within reach of clients. */
async function build(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Promise<ServerWithParts> {
  const { clock } = environment;
  const assembly = await assemble(config, environment, given, opened);
  const { identity, authentication, log, reportError, secured, open } = assembly;
  const secure = await listen(secured, {
    host: config.bindAddress,
    port: config.securePort,
    tls: { ...identity.tls, clientAuthority: authentication.clientAuthority() },
    onUpgrade: serveUpgradesOnDemand(secured, reportError),
    reportError,
  });
  authentication.onChange(() => secure.changeTls({ clientAuthority: authentication.clientAuthority() ?? "" }));
  const listeners: Listener[] = [secure];
  opened.defer(async () => void (await Promise.all(listeners.map((one) => one.close(config.shutdownGraceMs)))));
  if (config.insecurePort) {
    const onUpgrade = serveUpgradesOnDemand(open, reportError);
    listeners.push(await listen(open, { host: "127.0.0.1", port: config.insecurePort, onUpgrade, reportError }));
    log.warn("every program on this machine is an administrator by the port without TLS", {
      port: config.insecurePort,
    });
  }
  const apply = (pair: ServingPair) => secure.changeTls(pair);
  const renewal = renewCertificate({ clock, log, current: identity.tls, refresh: identity.refreshServing, apply });
  opened.defer(() => void renewal.close());
  const url = localUrl(config.bindAddress, secure.port);
  // Before `/readyz` says that the server is ready: who waited for it looks for the file next.
  const kubeconfigFile = await identity.saveKubeconfig(url);
  assembly.start(secure.port);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      const { shutdownDelayMs: delayMs } = config;
      if (delayMs > 0) for (const listener of listeners) listener.leave();
      await Promise.all([assembly.stop(), delayMs > 0 ? clock.sleep(delayMs) : undefined]);
      await opened.disposeAsync();
    })();
    return closing;
  };
  return {
    url,
    insecureUrl: listeners[1] && `http://127.0.0.1:${listeners[1].port}`,
    ca: identity.authority,
    token: identity.admin.token,
    kubeconfig: identity.kubeconfig(url),
    kubeconfigFile,
    resources: assembly.resources,
    ready: assembly.ready,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const noop = (): void => {};
