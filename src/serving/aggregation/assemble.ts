import type { ResolveService } from "../../base/net/service-backend.ts";
import type { Environment } from "../../base/util/environment.ts";
import type { Resources } from "../../resources/resources.ts";
import { openClientCertificate } from "../connect/configuration/client-certificate.ts";
import { loadHandlers } from "../connect/configuration/load-handlers.ts";
import type { ConnectConfig } from "../connect/configuration/options.ts";
import { serviceResolver } from "../connect/resolve-service.ts";
import { Aggregator } from "./aggregator.ts";

/** The extension servers behind APIServices, and the resolver of Services for extension servers and webhooks. */
export interface Aggregation {
  readonly aggregator: Aggregator;
  readonly resolve: ResolveService;
  close(): void;
}

/** The part of the server configuration for extension servers. */
export interface AggregationOptions {
  readonly proxyClientCertFile?: string;
  readonly proxyClientKeyFile?: string;
  readonly aggregatorRouting: boolean;
  readonly connect: ConnectConfig;
}

const nowhere: ResolveService = () => Promise.reject(new Error("Services cannot be reached offline"));

/** Creates the aggregation from the flags. Offline, no Service resolves. Throws if a certificate file cannot be read. */
export async function openAggregation(
  resources: Resources,
  config: AggregationOptions,
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
