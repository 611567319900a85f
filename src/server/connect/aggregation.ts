import { Aggregator } from "../../aggregation/aggregator.ts";
import { type ResolveService, serviceResolver } from "../../aggregation/resolve.ts";
import type { Environment } from "../../lib/environment.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Config } from "../config.ts";
import { openClientCertificate } from "./client-certificate.ts";
import { loadHandlers } from "./load-handlers.ts";

/** The servers behind APIServices, and where a Service answers, be it that of an extension server or of a webhook. */
export interface Aggregation {
  readonly aggregator: Aggregator;
  readonly resolve: ResolveService;
  close(): void;
}

const nowhere: ResolveService = () => Promise.reject(new Error("no Service is asked here"));

/** Composes it from the flags. Offline, no Service answers. Throws when the proxy certificate cannot be read. */
export async function openAggregation(
  resources: Resources,
  config: Config,
  environment: Environment,
  isOffline = false,
): Promise<Aggregation> {
  const certificate = await openClientCertificate(
    {
      certFile: config.proxyClientCertFile,
      keyFile: config.proxyClientKeyFile,
      flags: ["--proxy-client-cert-file", "--proxy-client-key-file"],
      audience: "extension servers",
    },
    environment,
  );
  const resolve = isOffline
    ? nowhere
    : serviceResolver(resources, config.aggregatorRouting, await loadHandlers(config.connect));
  const aggregator = new Aggregator(resources, { certificate: () => certificate.current(), resolve });
  return {
    aggregator,
    resolve,
    close() {
      aggregator.close();
      certificate.close();
    },
  };
}
