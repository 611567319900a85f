import { type Command, Option } from "commander";
import { type FeatureGateValues, parseFeatureGates } from "../api/feature-gates.ts";
import { type AccountTokenFlags, addAccountTokenFlags, serviceAccountsOf } from "../server/account-token-flags.ts";
import { type AuditFlags, addAuditFlags, auditOf } from "../server/audit-flags.ts";
import {
  type AuthenticationFlags,
  addAuthenticationFlags,
  takeAuthenticationFlags,
} from "../server/authentication/flags.ts";
import {
  type AuthorizationFlags,
  addAuthorizationFlags,
  takeAuthorizationFlags,
} from "../server/authorization/flags.ts";
import { type Config, DEFAULT_CERT_DIR, defaultConfig, type StoreChoice } from "../server/config.ts";
import { addConnectFlags, type ConnectFlags, takeConnectFlags } from "../server/connect/flags.ts";
import { isOn } from "../server/switch-flag.ts";
import { Failure } from "./command.ts";
import {
  address,
  addressRanges,
  allowPrivileged,
  clusterAddress,
  domain,
  duration,
  etcdServers,
  keyPrefix,
  port,
  storeChoice,
  words,
} from "./flag-values.ts";
import { addLogFlags, type LogFlags, logOf } from "./log-flags.ts";

/** What the flags of a server were set to. */
export interface ServeFlags
  extends AuditFlags,
    LogFlags,
    AccountTokenFlags,
    AuthenticationFlags,
    AuthorizationFlags,
    ConnectFlags {
  store?: StoreChoice;
  etcdServers?: string[];
  etcdPrefix: string;
  etcdCompactionInterval: number;
  etcdCafile?: string;
  etcdCertfile?: string;
  etcdKeyfile?: string;
  apiDomain: string;
  bindAddress: string;
  advertiseAddress?: string;
  securePort: number;
  insecurePort?: number;
  certDir: string;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  rootCaFile?: string;
  clientCaFile?: string;
  proxyClientCertFile?: string;
  proxyClientKeyFile?: string;
  enableAggregatorRouting: boolean;
  tokenAuthFile?: string;
  serviceClusterIpRange: string;
  eventTtl: number;
  shutdownDelayDuration: number;
  controllers: string;
  allowPrivileged?: true;
  customObjects: Config["customObjects"];
  featureGates: FeatureGateValues;
  enableAdmissionPlugins?: string[];
  disableAdmissionPlugins?: string[];
  kinds?: string[];
  openapiDescriptions?: string;
  admission?: string[];
  admissionControlConfigFile?: string;
}

/** Adds every flag of a server, under kube-apiserver's name where it has one. */
export function addServeFlags(command: Command): void {
  addStoreFlags(command.optionsGroup("Where objects are kept:"));
  addListenFlags(command.optionsGroup("Where it listens, and as whom:"));
  addServedFlags(command.optionsGroup("What is served, and which loops run:"));
  addAdmissionFlags(command.optionsGroup("Which writes are changed or refused:"));
  addAuthenticationFlags(command.optionsGroup("Who is calling:"), duration);
  command.option("--client-ca-file <file>", "authority of client certificates");
  command.option("--token-auth-file <file>", 'lines of token,user,uid,"groups"');
  addAccountTokenFlags(command, defaultConfig.serviceAccounts, duration);
  addAuthorizationFlags(command.optionsGroup("Who may do what:"), duration);
  addConnectFlags(command.optionsGroup("Nodes, pods, services and extension servers:"), duration);
  addExtensionFlags(command);
  addLogFlags(command.optionsGroup("What is written down:"));
  addAuditFlags(command, defaultConfig.audit, duration);
}

function addStoreFlags(command: Command): void {
  command
    .addOption(new Option("--store <memory|sqlite:FILE>", "where objects are kept").argParser(storeChoice))
    .addOption(new Option("--etcd-servers <urls>", "keep objects in this etcd cluster").argParser(etcdServers))
    .addOption(
      new Option("--etcd-prefix <prefix>", "prefix of all keys").argParser(keyPrefix).default(defaultConfig.etcdPrefix),
    )
    .addOption(
      new Option("--etcd-compaction-interval <time>", "how often history is compacted, 0 for never; for any store")
        .argParser(duration)
        .default(defaultConfig.compactionIntervalMs, "5m0s"),
    )
    .option("--etcd-cafile <file>", "authority of etcd's certificates")
    .option("--etcd-certfile <file>", "client certificate for etcd")
    .option("--etcd-keyfile <file>", "key of the client certificate for etcd")
    .addOption(
      new Option("--event-ttl <time>", "how long events are kept")
        .argParser(duration)
        .default(defaultConfig.eventTtlMs, "1h0m0s"),
    );
}

function addListenFlags(command: Command): void {
  const { bindAddress, securePort, shutdownDelayMs } = defaultConfig;
  command
    .addOption(new Option("--bind-address <address>", "address to listen on").argParser(address).default(bindAddress))
    .addOption(
      new Option(
        "--advertise-address <address>",
        "address that the endpoints of the Service kubernetes name",
      ).argParser(clusterAddress),
    )
    .addOption(new Option("--secure-port <port>", "HTTPS port, 0 for any").argParser(port).default(securePort))
    .addOption(
      new Option("--insecure-port <port>", "plain HTTP port on loopback without credentials, 0 for none").argParser(
        port,
      ),
    )
    .option("--cert-dir <folder>", "where made certificates and the kubeconfig are kept", DEFAULT_CERT_DIR)
    .option("--tls-cert-file <file>", "serving certificate")
    .option("--tls-private-key-file <file>", "key of the serving certificate")
    .option("--root-ca-file <file>", "its authority, which ConfigMaps kube-root-ca.crt and the kubeconfig tell of")
    .addOption(
      new Option("--shutdown-delay-duration <time>", "how long everything is still served after the signal to stop")
        .argParser(duration)
        .default(shutdownDelayMs, "0s"),
    );
}

function addServedFlags(command: Command): void {
  const { apiDomain, customObjects, controllers, featureGates, serviceClusterIpRange } = defaultConfig;
  command
    .addOption(new Option("--api-domain <domain>", "suffix of built-in groups").argParser(domain).default(apiDomain))
    .addOption(
      new Option("--custom-objects <which>", "objects of any group that nobody owns, or only of defined kinds")
        .choices(["open", "defined"])
        .default(customObjects),
    )
    .addOption(
      new Option(
        "--kinds <files>",
        "modules that export kinds made by defineKind, in TypeScript or JavaScript",
      ).argParser(words),
    )
    .option(
      "--openapi-descriptions <file>",
      "an OpenAPI document whose descriptions kubectl explain shows before our own",
    )
    .option(
      "--controllers <list>",
      "loops of a controller manager to run: *, none, or names; -name leaves one out",
      controllers,
    )
    .addOption(
      new Option(
        "--feature-gates <name=value,…>",
        "feature gates of Kubernetes to switch, as listed in docs/reference/feature-gates.md",
      )
        .argParser(parseFeatureGates)
        .default(featureGates, "every gate at its default"),
    )
    .addOption(
      new Option("--service-cluster-ip-range <cidr>", "range of service addresses")
        .argParser(addressRanges)
        .default(serviceClusterIpRange),
    );
}

function addAdmissionFlags(command: Command): void {
  command
    .addOption(
      new Option("--enable-admission-plugins <names>", "plugins to switch on besides those on by default").argParser(
        words,
      ),
    )
    .addOption(
      new Option("--disable-admission-plugins <names>", "plugins to switch off that are on by default").argParser(
        words,
      ),
    )
    .option(
      "--admission-control-config-file <file>",
      "an AdmissionConfiguration: credentials for webhooks, webhooks in files",
    )
    .addOption(
      new Option("--admission <files>", "files of TypeScript whose functions change or refuse writes").argParser(words),
    )
    .addOption(
      new Option("--allow-privileged [on]", "containers may be privileged; what namespaces refuse is up to admission")
        .argParser(allowPrivileged)
        .preset("true"),
    );
}

function addExtensionFlags(command: Command): void {
  command
    .option("--proxy-client-cert-file <file>", "certificate by which extension servers know this server")
    .option("--proxy-client-key-file <file>", "key of that certificate")
    .addOption(
      new Option("--enable-aggregator-routing [on]", "extension servers are reached at endpoints of their Service")
        .argParser(isOn)
        .preset("true")
        .default(defaultConfig.aggregatorRouting),
    );
}

/** The configuration that the flags describe. Throws when they contradict each other. */
export async function configOf(flags: ServeFlags): Promise<Config> {
  const { kinds = [], ...others } = flags;
  const config = toConfig(others);
  if (kinds.length === 0) return config;
  const { loadKinds } = await import("../server/library/load-kinds.ts");
  return { ...config, kinds: await loadKinds(kinds) };
}

function toConfig(flags: Omit<ServeFlags, "kinds">): Config {
  const {
    store,
    etcdServers,
    etcdCafile,
    etcdCertfile,
    etcdKeyfile,
    etcdCompactionInterval,
    eventTtl,
    shutdownDelayDuration,
    enableAdmissionPlugins,
    disableAdmissionPlugins,
    admission,
    admissionControlConfigFile,
    allowPrivileged: _,
    enableAggregatorRouting: aggregatorRouting,
    logLevel: __,
    logFormat: ___,
    ...others
  } = flags;
  const { authentication, rest: unread } = takeAuthenticationFlags(others);
  const { authorization, rest: unused } = takeAuthorizationFlags(unread);
  const { connect, rest } = takeConnectFlags(unused);
  if (store && etcdServers) {
    throw new Failure(
      "--store and --etcd-servers exclude each other",
      "Leave out one of them: each says where objects are kept.",
    );
  }
  const etcd: StoreChoice | undefined = etcdServers && {
    type: "etcd",
    servers: etcdServers,
    caFile: etcdCafile,
    certFile: etcdCertfile,
    keyFile: etcdKeyfile,
  };
  return {
    ...defaultConfig,
    ...rest,
    authentication,
    compactionIntervalMs: etcdCompactionInterval,
    eventTtlMs: eventTtl,
    authorization,
    connect,
    aggregatorRouting,
    shutdownDelayMs: shutdownDelayDuration,
    admissionPlugins: { enabled: enableAdmissionPlugins ?? [], disabled: disableAdmissionPlugins ?? [] },
    admission: { functions: [], functionFiles: admission ?? [], configFile: admissionControlConfigFile },
    serviceAccounts: serviceAccountsOf(flags, defaultConfig.serviceAccounts),
    audit: auditOf(flags),
    logRequests: logOf(flags).logRequests,
    store: etcd ?? store ?? defaultConfig.store,
  };
}
