import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type FeatureGateValues, parseFeatureGates } from "./api/feature-gates.ts";
import { readDuration } from "./lib/go/duration.ts";
import { type AccountTokenFlags, addAccountTokenFlags, serviceAccountsOf } from "./server/account-token-flags.ts";
import { type AuditFlags, addAuditFlags, auditOf } from "./server/audit-flags.ts";
import {
  type AuthenticationFlags,
  addAuthenticationFlags,
  takeAuthenticationFlags,
} from "./server/authentication/flags.ts";
import {
  type AuthorizationFlags,
  addAuthorizationFlags,
  takeAuthorizationFlags,
} from "./server/authorization/flags.ts";
import { type Config, DEFAULT_CERT_DIR, defaultConfig, type StoreChoice } from "./server/config.ts";
import { addConnectFlags, type ConnectFlags, takeConnectFlags } from "./server/connect/flags.ts";
import { addExplainCommand } from "./server/explain-command.ts";
import { isOn } from "./server/switch-flag.ts";

interface ServeFlags extends AuditFlags, AccountTokenFlags, AuthenticationFlags, AuthorizationFlags, ConnectFlags {
  store?: StoreChoice;
  etcdServers?: string[];
  etcdPrefix: string;
  etcdCompactionInterval: number;
  etcdCafile?: string;
  etcdCertfile?: string;
  etcdKeyfile?: string;
  apiDomain: string;
  bindAddress: string;
  securePort: number;
  insecurePort?: number;
  certDir: string;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
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
  admission?: string[];
  admissionControlConfigFile?: string;
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError("expected a port from 0 to 65535");
  return value;
}

function storeChoice(text: string): StoreChoice {
  if (text === "memory") return { type: "memory" };
  if (text.startsWith("sqlite:") && text.length > "sqlite:".length) {
    return { type: "sqlite", file: text.slice("sqlite:".length) };
  }
  throw new InvalidArgumentError("expected memory or sqlite:FILE");
}

function domain(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(text)) {
    throw new InvalidArgumentError("expected a domain such as k8s.io");
  }
  return text;
}

/** Compat: durations such as 5m0s are written as Go's `time.ParseDuration` reads them. */
function duration(text: string): number {
  const read = readDuration(text);
  if (typeof read === "string" || read < 0n) {
    throw new InvalidArgumentError("expected a span of time such as 5m0s, or 0");
  }
  return Number(read) / 1e6;
}

/** Compat: kube-apiserver's flag, which envtest sets. False would have to refuse `securityContext.privileged`. */
function allowPrivileged(text: string): true {
  if (/^(1|t|T|true|True|TRUE)$/.test(text)) return true;
  throw new InvalidArgumentError("only true is known: admission by namespace refuses privileged containers");
}

const words = (text: string): string[] => text.split(",").filter((word) => word !== "");

/** The command line. `run` gets the configuration that the flags describe. */
function program(run: (config: Config) => Promise<void>): Command {
  const binnacle = new Command("binnacle").description(
    "A control plane's API, compatible with the Kubernetes API server",
  );
  const defaults = defaultConfig;
  const serve = binnacle
    .command("serve")
    .description("Serve the API until interrupted")
    .addOption(new Option("--store <memory|sqlite:FILE>", "where objects are kept").argParser(storeChoice))
    .addOption(new Option("--etcd-servers <urls>", "keep objects in this etcd cluster").argParser(words))
    .option("--etcd-prefix <prefix>", "prefix of all keys", defaults.etcdPrefix)
    .addOption(
      new Option("--etcd-compaction-interval <time>", "how often history is compacted, 0 for never; for any store")
        .argParser(duration)
        .default(defaults.compactionIntervalMs, "5m0s"),
    )
    .option("--etcd-cafile <file>", "authority of etcd's certificates")
    .option("--etcd-certfile <file>", "client certificate for etcd")
    .option("--etcd-keyfile <file>", "key of the client certificate for etcd")
    .addOption(
      new Option("--api-domain <domain>", "suffix of built-in groups").argParser(domain).default(defaults.apiDomain),
    )
    .option("--bind-address <address>", "address to listen on", defaults.bindAddress)
    .addOption(new Option("--secure-port <port>", "HTTPS port, 0 for any").argParser(port).default(defaults.securePort))
    .addOption(
      new Option("--insecure-port <port>", "plain HTTP port on loopback without credentials, 0 for none").argParser(
        port,
      ),
    )
    .option("--cert-dir <folder>", "where made certificates and the kubeconfig are kept", DEFAULT_CERT_DIR)
    .option("--tls-cert-file <file>", "serving certificate")
    .option("--tls-private-key-file <file>", "key of the serving certificate")
    .option("--client-ca-file <file>", "authority of client certificates")
    .option("--proxy-client-cert-file <file>", "certificate by which extension servers know this server")
    .option("--proxy-client-key-file <file>", "key of that certificate")
    .addOption(
      new Option("--enable-aggregator-routing [on]", "extension servers are reached at endpoints of their Service")
        .argParser(isOn)
        .preset("true")
        .default(defaults.aggregatorRouting),
    )
    .option("--token-auth-file <file>", 'lines of token,user,uid,"groups"')
    .addOption(
      new Option("--enable-admission-plugins <names>", "plugins to switch on besides those on by default").argParser(
        words,
      ),
    )
    .addOption(
      new Option(
        "--admission-control-config-file <file>",
        "an AdmissionConfiguration: credentials for webhooks, webhooks in files",
      ),
    )
    .addOption(
      new Option("--admission <files>", "files of TypeScript whose functions change or refuse writes").argParser(words),
    )
    .addOption(
      new Option("--disable-admission-plugins <names>", "plugins to switch off that are on by default").argParser(
        words,
      ),
    )
    .addOption(
      new Option("--custom-objects <which>", "objects of any group that nobody owns, or only of defined kinds")
        .choices(["open", "defined"])
        .default(defaults.customObjects),
    )
    .addOption(
      new Option("--allow-privileged [on]", "containers may be privileged; what namespaces refuse is up to admission")
        .argParser(allowPrivileged)
        .preset("true"),
    )
    .addOption(
      new Option(
        "--kinds <files>",
        "modules that export kinds made by defineKind, in TypeScript or JavaScript",
      ).argParser(words),
    )
    .option(
      "--controllers <list>",
      "loops of a controller manager to run: *, none, or names; -name leaves one out",
      defaults.controllers,
    )
    .addOption(
      new Option(
        "--feature-gates <name=value,…>",
        "feature gates of Kubernetes to switch, as listed in docs/feature-gates.md",
      )
        .argParser(parseFeatureGates)
        .default(defaults.featureGates, "every gate at its default"),
    )
    .option("--service-cluster-ip-range <cidr>", "range of service addresses", defaults.serviceClusterIpRange)
    .addOption(
      new Option("--event-ttl <time>", "how long events are kept")
        .argParser(duration)
        .default(defaults.eventTtlMs, "1h0m0s"),
    )
    .addOption(
      new Option("--shutdown-delay-duration <time>", "how long everything is still served after the signal to stop")
        .argParser(duration)
        .default(defaults.shutdownDelayMs, "0s"),
    );
  addAuthenticationFlags(serve, duration);
  addAuthorizationFlags(serve, duration);
  addConnectFlags(serve, duration);
  addAuditFlags(serve, defaults.audit, duration);
  addAccountTokenFlags(serve, defaults.serviceAccounts, duration).action(async (flags: ServeFlags) => {
    const { kinds = [], ...others } = flags;
    const config = toConfig(others);
    await run(kinds.length === 0 ? config : { ...config, kinds: await readKinds(kinds) });
  });
  addExplainCommand(binnacle, (text) => void process.stdout.write(text));
  return binnacle;
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
    ...others
  } = flags;
  const { authentication, rest: unread } = takeAuthenticationFlags(others);
  const { authorization, rest: unused } = takeAuthorizationFlags(unread);
  const { connect, rest } = takeConnectFlags(unused);
  if (store && etcdServers) throw new Error("--store and --etcd-servers exclude each other");
  const etcd: StoreChoice | undefined = etcdServers && {
    type: "etcd",
    servers: etcdServers,
    caFile: etcdCafile,
    certFile: etcdCertfile,
    keyFile: etcdKeyfile,
  };
  const compactionIntervalMs = etcdCompactionInterval;
  return {
    ...defaultConfig,
    ...rest,
    authentication,
    compactionIntervalMs,
    eventTtlMs: eventTtl,
    authorization,
    connect,
    aggregatorRouting,
    shutdownDelayMs: shutdownDelayDuration,
    admissionPlugins: { enabled: enableAdmissionPlugins ?? [], disabled: disableAdmissionPlugins ?? [] },
    admission: { functionFiles: admission ?? [], configFile: admissionControlConfigFile },
    serviceAccounts: serviceAccountsOf(flags, defaultConfig.serviceAccounts),
    audit: auditOf(flags),
    store: etcd ?? store ?? defaultConfig.store,
  };
}

/** All kinds that modules export. */
async function readKinds(files: readonly string[]): Promise<NonNullable<Config["kinds"]>> {
  const { loadKinds } = await import("./server/library/load-kinds.ts");
  return loadKinds(files);
}

async function serve(config: Config): Promise<void> {
  const [{ startServer }, { systemEnvironment }, { carefulLog }] = await Promise.all([
    import("./server/server.ts"),
    import("./server/system-environment.ts"),
    import("./server/careful-log.ts"),
  ]);
  const environment = systemEnvironment();
  // Node would print the error with all of its properties.
  process.once("uncaughtException", (error) => {
    carefulLog(environment.log).error("the process ends by an error that nobody expected", { err: error });
    process.exit(1);
  });
  // Ready servers are known to be ended politely, so the signals are heard before the first answer.
  const stopped = stopSignal();
  const server = await startServer(config, environment);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  print(`Serving ${server.url} from ${describe(config.store)}.`);
  if (server.insecureUrl !== undefined)
    print(`Without TLS or credentials, on this machine only: ${server.insecureUrl}`);
  const kubeconfig = path.relative(process.cwd(), server.kubeconfigFile ?? "");
  print(`Connect with: kubectl --kubeconfig ${kubeconfig} get namespaces`);
  await stopped;
  await server.close();
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Resolves at the first signal to stop. Compat: the second one ends the process at once, as `SetupSignalHandler` does. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve();
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
  });
}

function describe(store: StoreChoice): string {
  if (store.type === "memory") return "memory, which is gone when this process ends";
  return store.type === "sqlite" ? store.file : `etcd at ${store.servers.join(", ")}`;
}

/** Does what the arguments of the process say. A failure is told in one line, and ends the process. */
export async function runCommandLine(): Promise<void> {
  try {
    await program(serve).parseAsync();
  } catch (error) {
    process.stderr.write(`binnacle: ${error instanceof Error ? error.message : String(error)}\n`);
    // What was opened before the failure must not keep the process alive.
    process.exit(1);
  }
}
