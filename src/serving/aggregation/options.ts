import { option } from "../../base/options/option.ts";
import { boolean, file } from "../../base/options/value-types.ts";

/** Options about the extension API servers behind APIServices. */
export const aggregationOptions = {
  proxyClientCertFile: option(
    "proxy-client-cert-file",
    file("certificates"),
    "client certificate for extension API servers",
  ),
  proxyClientKeyFile: option("proxy-client-key-file", file("a private key"), "private key of that certificate"),
  aggregatorRouting: option(
    "enable-aggregator-routing",
    boolean,
    "connect to endpoints of an extension API server's Service instead of its cluster IP",
    { default: false },
  ),
};
