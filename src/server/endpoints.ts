import type { Aggregator } from "../aggregation/aggregator.ts";
import { discovery, discoveryPaths } from "../endpoints/discovery/discovery.ts";
import { type HealthCheck, health, healthPaths, PING } from "../endpoints/health.ts";
import { countChecks, metrics, metricsPaths, type ShownMetrics } from "../endpoints/metrics.ts";
import { openApiHandler, openApiPaths } from "../endpoints/openapi/openapi.ts";
import { type OpenIdDocument, openId } from "../endpoints/openid.ts";
import { root } from "../endpoints/root.ts";
import { version } from "../endpoints/version.ts";
import { builtInPriorities } from "../kinds/all.ts";
import type { Endpoint } from "../pipeline/router.ts";
import type { Resources } from "../resources/resources.ts";
import { findBuiltInSchema } from "../schema-files/built-in-schemas.ts";
import type { FindDescription } from "../schema-files/document-descriptions.ts";
import type { Config } from "./config.ts";
import { storageCheck } from "./readiness.ts";
import { release } from "./release.ts";

/** What is shown of the server itself. */
export interface ServerMetrics {
  readonly shown: ShownMetrics;
  /** When it was started, in milliseconds since the epoch. */
  readonly startMs: number;
  /** What others verify tokens of service accounts by. */
  readonly documents: readonly OpenIdDocument[];
}

/** What health endpoints check besides that the server and its store answer. */
export interface HealthChecks {
  /** For `/healthz` and `/livez`. */
  readonly hooks: readonly HealthCheck[];
  /** For `/readyz`. */
  readonly readiness: readonly HealthCheck[];
}

/** What is served besides objects, in the order in which it is asked. */
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
    (call) => (/^\/version\/?$/.test(call.request.path) ? versionReply(call) : undefined),
    (call) => (call.request.path === "/" || call.request.path === "/index.html" ? index(call) : undefined),
  ];
}
