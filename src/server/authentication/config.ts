import type { FrontProxyOptions } from "../../auth/front-proxy.ts";

/** The `--oidc-*` flags. */
export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly caFile?: string;
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly signingAlgs: readonly string[];
  readonly requiredClaims: Readonly<Record<string, string>>;
}

/** How callers are recognised, besides `clientCaFile` and `tokenAuthFile`. */
export interface AuthenticationConfig {
  /** Whether requests without credentials are those of system:anonymous, instead of refused. Undefined: yes. */
  readonly anonymous?: boolean;
  /** Who may speak for others. Absent: nobody. */
  readonly frontProxy?: FrontProxyOptions & { readonly clientCaFile: string };
  /** Whether Secrets of the type bootstrap.kubernetes.io/token are credentials. */
  readonly bootstrapTokens: boolean;
  /** Who is asked about tokens that nobody else knows. */
  readonly webhook?: { readonly configFile: string; readonly version: string; readonly cacheMs: number };
  readonly oidc?: OidcFlags;
  /** An AuthenticationConfiguration. */
  readonly configFile?: string;
}
