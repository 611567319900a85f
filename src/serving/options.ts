import { libraryOption, option } from "../base/options/option.ts";
import { bindAddress, boolean, count, duration, file, folder, ipAddress, port } from "../base/options/value-types.ts";

/** Where the command line stores certificates and the administrator's kubeconfig by default. */
export const DEFAULT_CERT_DIR = "binnacle-data";

/** Options about addresses, certificates and the lifetime of requests. */
export const servingOptions = {
  bindAddress: option("bind-address", bindAddress, "address to listen on", { default: "127.0.0.1" }),
  advertiseAddress: option(
    "advertise-address",
    ipAddress,
    "address in the endpoints of the Service kubernetes; by default --bind-address, or an address of this machine",
  ),
  securePort: option("secure-port", port, "HTTPS port; 0 picks a free port", { default: 0, flagDefault: 6443 }),
  insecurePort: option(
    "insecure-port",
    port,
    "HTTP port on loopback; every request to it is cluster-admin; 0 disables it",
  ),
  certDir: option("cert-dir", folder, "folder for generated certificates, keys and the administrator's kubeconfig", {
    flagDefault: DEFAULT_CERT_DIR,
  }),
  tlsCertFile: option("tls-cert-file", file("certificates"), "serving certificate"),
  tlsPrivateKeyFile: option("tls-private-key-file", file("a private key"), "private key of the serving certificate"),
  rootCaFile: option(
    "root-ca-file",
    file("certificates"),
    "CA bundle that verifies --tls-cert-file, published in ConfigMaps kube-root-ca.crt and the kubeconfig; by default the certificate itself",
  ),
  shutdownDelayMs: option(
    "shutdown-delay-duration",
    duration,
    "how long requests are still served after SIGTERM, while /readyz fails",
    { default: 0 },
  ),
  shutdownGraceMs: libraryOption(duration, "how long open requests may take after that", { default: 10_000 }),
  minRequestTimeout: option(
    "min-request-timeout",
    count,
    "seconds after which a watch without timeoutSeconds may end; each ends after up to twice as long; 0 never ends one",
    { default: 1800 },
  ),
  enablePriorityAndFairness: option(
    "enable-priority-and-fairness",
    boolean,
    "limit concurrent requests by flow schemas and priority levels; false: by the following two numbers alone",
    { default: true },
  ),
  maxRequestsInflight: option(
    "max-requests-inflight",
    count,
    "reads that run at once; with priority and fairness, the sum of both numbers is divided among the priority levels",
    { default: 400 },
  ),
  maxMutatingRequestsInflight: option("max-mutating-requests-inflight", count, "writes that run at once", {
    default: 200,
  }),
  requestTimeoutMs: libraryOption(duration, "time limit of requests other than watches", { default: 60_000 }),
  maxInlineBytes: libraryOption(
    count,
    "requests with larger bodies or stored objects run in a worker thread; 0 disables worker threads",
    { default: 64 * 1024 },
  ),
};
