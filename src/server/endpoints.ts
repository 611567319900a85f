import { discovery, discoveryPaths } from "../endpoints/discovery/discovery.ts";
import { type HealthCheck, health, healthPaths, PING } from "../endpoints/health.ts";
import { openApiHandler, openApiPaths } from "../endpoints/openapi/openapi.ts";
import { root } from "../endpoints/root.ts";
import { version } from "../endpoints/version.ts";
import { builtInPriorities } from "../kinds/all.ts";
import type { Endpoint } from "../pipeline/router.ts";
import type { Resources } from "../resources/resources.ts";
import { findBuiltInSchema } from "../schema-files/built-in-schemas.ts";
import type { Config } from "./config.ts";
import { release } from "./release.ts";

/** What is served besides objects, in the order in which it is asked. */
export function makeEndpoints(resources: Resources, config: Config): Endpoint[] {
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
