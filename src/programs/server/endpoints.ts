import type { OpenIdDocument } from "../../access/authentication/service-accounts/openid.ts";
import { builtInPriorities } from "../../kinds/built-in/all.ts";
import { findBuiltInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import type { FindDescription } from "../../kinds/schema-files/document-descriptions.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Aggregator } from "../../serving/aggregation/aggregator.ts";
import { discovery, discoveryPaths } from "../../serving/endpoints/discovery/discovery.ts";
import { type HealthCheck, health, healthPaths, PING } from "../../serving/endpoints/health.ts";
import { countChecks, metrics, metricsPaths, type ShownMetrics } from "../../serving/endpoints/metrics.ts";
import { openApiHandler, openApiPaths } from "../../serving/endpoints/openapi/openapi.ts";
import { openId } from "../../serving/endpoints/openid.ts";
import { processId } from "../../serving/endpoints/process.ts";
import { storageCheck } from "../../serving/endpoints/readiness.ts";
import { release } from "../../serving/endpoints/release.ts";
import { root } from "../../serving/endpoints/root.ts";
import { version } from "../../serving/endpoints/version.ts";
import type { Endpoint } from "../../serving/pipeline/router.ts";
import type { Config } from "./config.ts";

/** What the server shows about itself. */
export interface ServerMetrics {
  readonly shown: ShownMetrics;
  /** Start time in milliseconds since the epoch. */
  readonly startMs: number;
  /** OpenID documents of the service account issuer. */
  readonly documents: readonly OpenIdDocument[];
}

/** Health checks besides those of the server and its store. */
export interface HealthChecks {
  /** For `/healthz` and `/livez`. */
  readonly hooks: readonly HealthCheck[];
  /** For `/readyz`. */
  readonly readiness: readonly HealthCheck[];
}

/** Everything that is served besides objects. The first endpoint that answers a path wins. */
export function makeEndpoints(
  resources: Resources,
  config: Config,
  { hooks, readiness }: HealthChecks,
  { shown, startMs, documents }: ServerMetrics,
  aggregator: Aggregator,
  descriptions: FindDescription,
): Endpoint[] {
  const { catalog, clock, store } = resources;
  const definitions = () => catalog.definitions;
  const source = { definitions, priority: builtInPriorities(config.apiDomain), remote: () => aggregator.versions };
  const storage = storageCheck(store, clock);
  const common = [PING, storage];
  const live = [...common, ...hooks];
  const checks = { healthz: live, livez: live, readyz: [...common, ...readiness] };
  const remoteDocuments = () =>
    aggregator.versions
      .filter(({ isCurrent }) => isCurrent)
      .map(({ group, version, openApiHash: hash }) => ({ path: `apis/${group}/${version}`, hash }));
  const openApi = openApiHandler({
    definitions,
    component: findBuiltInSchema,
    descriptions,
    release: release.version,
    clock,
    remoteDocuments,
    remoteSwaggers: () => aggregator.swaggers,
  });
  const openIdPaths = documents.map(({ path }) => path);
  const paths = [...healthPaths(checks), ...metricsPaths, ...openApiPaths, ...openIdPaths, "/version"];
  const listed = discoveryPaths(source);
  const index = root(() => [...listed(), ...paths]);
  const versionReply = version(release.info);
  return [
    discovery(source),
    openApi,
    health(checks, clock, countChecks(shown["/metrics/slis"])),
    metrics(shown, startMs),
    openId(documents),
    processId(process.pid),
    (call) => (/^\/version\/?$/.test(call.request.path) ? versionReply(call) : undefined),
    (call) => (call.request.path === "/" || call.request.path === "/index.html" ? index(call) : undefined),
  ];
}
