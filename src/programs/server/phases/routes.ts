import { explainAdmissionEndpoint } from "../../../access/admission/explain/explain-endpoint.ts";
import { explainEndpoint } from "../../../access/authorization/explain/explain-request.ts";
import type { Handler } from "../../../base/api/call.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";
import { ProcessMetrics, startTimeMetric } from "../../../base/metrics/process-metrics.ts";
import { openDescriptions } from "../../../kinds/schema-files/document-descriptions.ts";
import { prepareConnect } from "../../../serving/connect/configuration/prepare.ts";
import { PostStartHook, shutdownCheck, writesCheck } from "../../../serving/endpoints/readiness.ts";
import { boundCost } from "../../../serving/pipeline/bound-cost.ts";
import { callInProcess } from "../../../serving/pipeline/in-process.ts";
import { type PathFacts, pathFacts } from "../../../serving/pipeline/path-facts.ts";
import { route } from "../../../serving/pipeline/router.ts";
import { makeEndpoints } from "../endpoints.ts";
import { objectHandler } from "../object-parts.ts";
import { externalAddress } from "../reachable-address.ts";
import { type Offloading, offloading } from "../threads/offloading.ts";
import type { AccessParts } from "./access.ts";
import type { AdmissionParts } from "./admission.ts";
import type { FairnessParts } from "./fairness.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** The handlers behind the stages of the pipeline. */
export interface RouteParts {
  /** Handles requests in this thread. */
  readonly inline: Handler;
  /** The same, but moves large requests to other threads. */
  readonly offloaded: Handler;
  readonly large: Offloading;
  readonly facts: PathFacts;
  /** Finishes when the bootstrap roles exist; `/readyz` waits for it. */
  readonly rolesHook: PostStartHook;
}

/** Builds the handlers of objects and of all other endpoints, and the router that picks one. */
export async function assembleRoutes(
  setting: Setting,
  storage: StorageParts,
  access: AccessParts,
  admission: AdmissionParts,
  fairness: FairnessParts,
): Promise<RouteParts> {
  const { config, environment, opened, log, lines, registries, address } = setting;
  const { resources, accounts } = storage;
  const { aggregator, custom, dynamic, observer } = admission;
  const { judges } = access;
  const { authorizer } = judges;
  const { catalog } = resources;
  const registry = registries["/metrics"];
  const { open } = custom;
  const isOpen = open && ((info: RequestInfo) => open.takes(info));
  const ownPort = () => address.port;
  const connector = await prepareConnect(config.connect, resources, {
    authorizer,
    registry,
    log,
    simulated: (object) => setting.kubelets.handlersOf(object),
    ownPort,
  });
  opened.defer(() => connector.close());
  const objects = objectHandler(config, storage, judges, registry, { open, connector, dynamic: dynamic.plugins });
  const facts = pathFacts(catalog, isOpen);
  const large = offloading({
    config,
    environment: { ...environment, log },
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
  const rolesHook = new PostStartHook("rbac/bootstrap-roles");
  const shown = await assembleEndpoints(setting, storage, access, admission, rolesHook);
  const endpoints = [...shown, ...fairness.endpoints];
  const routed = (handler: Handler) => route({ catalog, objects: handler, endpoints, isOpen, remote: aggregator.pass });
  return { inline: routed(boundCost(objects)), offloaded: routed(large.stage(objects)), large, facts, rolesHook };
}

/** Discovery, OpenAPI, health, metrics, token issuer documents and explanations. */
async function assembleEndpoints(
  { config, environment, given, opened, registries, address, startMs, stopping, late }: Setting,
  { resources, store, accounts }: StorageParts,
  { judges, authorization }: AccessParts,
  { aggregator }: AdmissionParts,
  rolesHook: PostStartHook,
) {
  const { catalog } = resources;
  if (!given.isGuest) {
    const metrics = new ProcessMetrics(registries["/metrics"], { startMs, views: () => resources.views.usage });
    opened.defer(() => metrics.close());
  }
  startTimeMetric(registries["/metrics/slis"], startMs);
  const shutdown = shutdownCheck(stopping.signal);
  const checks = { hooks: [rolesHook], readiness: [writesCheck(store), rolesHook, shutdown] };
  const documents = accounts.documents(() => externalAddress(config, address.port));
  const descriptions = await openDescriptions(config.openapiDescriptions);
  const { authorizer } = judges;
  return [
    ...makeEndpoints(resources, config, checks, { shown: registries, startMs, documents }, aggregator, descriptions),
    explainEndpoint({ authorizer, source: authorization.grants, catalog }),
    explainAdmissionEndpoint({
      catalog,
      authorizer,
      send: (write) => callInProcess(late.inProcess.value, write, environment.random),
    }),
  ];
}
