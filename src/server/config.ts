import type { FeatureGateValues } from "../api/feature-gates.ts";
import { type AuditConfig, defaultAuditConfig } from "../audit/options.ts";
import { DEFAULT_MODES } from "../auth/authorization/modes.ts";
import type { CodedKind } from "../custom/coded-kind.ts";
import type { AdmissionConfig } from "./admission/prepare-admission.ts";
import type { AuthenticationConfig } from "./authentication/config.ts";
import type { AuthorizationConfig } from "./authorization/config.ts";
import { type ConnectConfig, defaultConnectConfig } from "./connect/config.ts";

/** Where objects are kept. */
export type StoreChoice =
  | { readonly type: "memory" }
  | { readonly type: "sqlite"; readonly file: string }
  | {
      readonly type: "etcd";
      readonly servers: readonly string[];
      readonly caFile?: string;
      readonly certFile?: string;
      readonly keyFile?: string;
    };

/** How tokens of service accounts are signed and judged. */
export interface AccountTokenConfig {
  /** Absent: a key that the server makes, in `certDir` if there is one. */
  readonly signingKeyFile?: string;
  /** Keys that tokens are verified with. Empty: the one that signs. */
  readonly keyFiles: readonly string[];
  /** The first signs; tokens of all are taken. */
  readonly issuers: readonly string[];
  /** For whom tokens are that are meant for this server. Empty: the issuers. */
  readonly apiAudiences: readonly string[];
  /** 0: no limit. */
  readonly maxTokenExpirationMs: number;
  /** Whether tokens that the ServiceAccount admission plugin asks for are good for a year. */
  readonly extendTokenExpiration: boolean;
  /** Whether a token that lives in a Secret is good only as long as the Secret is there. */
  readonly lookup: boolean;
  /** What the OpenID discovery document names instead of this server. */
  readonly jwksUri?: string;
}

/** Every option of a server. Flags of the command line carry kube-apiserver's names where it has one. */
export interface Config {
  /** Where objects are kept. */
  readonly store: StoreChoice;
  /** Everything is kept below this prefix. */
  readonly etcdPrefix: string;
  /** History is compacted this often, so that it is kept at least so long, in whichever store. 0: never. */
  readonly compactionIntervalMs: number;
  /** Suffix of the built-in group names. */
  readonly apiDomain: string;
  readonly bindAddress: string;
  /** Where members of the cluster reach this server, as the endpoints of the Service kubernetes say. Absent: `bindAddress`, or an address of this machine. */
  readonly advertiseAddress?: string;
  /** 0 picks a free port. */
  readonly securePort: number;
  /** A port without TLS and only on loopback, for trying things out: who reaches it is an administrator. 0 or undefined: none. */
  readonly insecurePort?: number;
  /** Where made certificates and the administrator's kubeconfig are kept. Absent: in memory, and no file is written. */
  readonly certDir?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  /** The authority that clients are to trust for `tlsCertFile`. Absent: that certificate itself. */
  readonly rootCaFile?: string;
  readonly clientCaFile?: string;
  readonly tokenAuthFile?: string;
  readonly authentication: AuthenticationConfig;
  /** By which extension servers behind APIServices know this server; both or none. */
  readonly proxyClientCertFile?: string;
  readonly proxyClientKeyFile?: string;
  /** Whether extension servers are reached at endpoints of their Service rather than at its address. */
  readonly aggregatorRouting: boolean;
  /** Who decides what callers may do. */
  readonly authorization: AuthorizationConfig;
  readonly serviceAccounts: AccountTokenConfig;
  /** The range that service addresses come from; its first address goes into the serving certificate. */
  readonly serviceClusterIpRange: string;
  /** How long events are kept. */
  readonly eventTtlMs: number;
  /** Admission plugins that shall be on, and those that are on by default and shall be off. */
  readonly admissionPlugins: { readonly enabled: readonly string[]; readonly disabled: readonly string[] };
  /** Functions of admission, and what else is read from files. */
  readonly admission: AdmissionConfig;
  /** Feature gates of Kubernetes and the values they shall have instead of their defaults; see docs/reference/feature-gates.md. */
  readonly featureGates: FeatureGateValues;
  /**
   * "open": groups that nobody owns have whatever resources clients create objects of. "defined": only what a
   * CustomResourceDefinition or an APIService defines, as at kube-apiserver.
   */
  readonly customObjects: "open" | "defined";
  /** An OpenAPI document whose descriptions stand before our own. */
  readonly openapiDescriptions?: string;
  /** Kinds that the program brings with it, served from the start. */
  readonly kinds?: readonly CodedKind[];
  /**
   * Which loops of a controller manager run inside this server: `*`, `none`, or names, with a minus sign before those left
   * out. Those of kube-apiserver itself always run.
   */
  readonly controllers: string;
  /**
   * Requests whose body is larger, or that must decode a stored object which is, are carried out in another thread, so that
   * they hold up nobody. 0: none are.
   */
  readonly maxInlineBytes: number;
  /** How nodes, pods and services are reached. */
  readonly connect: ConnectConfig;
  /** What is written down about requests. */
  readonly audit: AuditConfig;
  /** Whether the log has a line for every request. */
  readonly logRequests: boolean;
  /** How long a request may take that is not a watch. */
  readonly requestTimeoutMs: number;
  /** How long everything is still served when the server is told to stop, while `/readyz` says that it is about to. */
  readonly shutdownDelayMs: number;
  /** How long open requests are waited for when the server stops. */
  readonly shutdownGraceMs: number;
}

/** Where the command line keeps certificates and the administrator's kubeconfig when it is not told otherwise. */
export const DEFAULT_CERT_DIR = "binnacle-data";

/** What a server does when it is not told otherwise. */
export const defaultConfig: Config = {
  store: { type: "memory" },
  etcdPrefix: "/registry",
  compactionIntervalMs: 300_000,
  apiDomain: "k8s.io",
  aggregatorRouting: false,
  bindAddress: "127.0.0.1",
  securePort: 6443,
  authentication: { bootstrapTokens: false },
  authorization: { modes: DEFAULT_MODES },
  serviceAccounts: {
    keyFiles: [],
    issuers: ["https://kubernetes.default.svc"],
    apiAudiences: [],
    maxTokenExpirationMs: 0,
    extendTokenExpiration: true,
    lookup: true,
  },
  serviceClusterIpRange: "10.0.0.0/24",
  eventTtlMs: 3_600_000,
  admissionPlugins: { enabled: [], disabled: [] },
  admission: { functions: [], functionFiles: [] },
  featureGates: {},
  customObjects: "open",
  controllers: "*",
  maxInlineBytes: 64 * 1024,
  connect: defaultConnectConfig,
  audit: defaultAuditConfig,
  logRequests: false,
  requestTimeoutMs: 60_000,
  shutdownDelayMs: 0,
  shutdownGraceMs: 10_000,
};
