import { readLimited, WatchedFile } from "../../../base/files/watched-file.ts";
import { HttpClient } from "../../../base/net/http-client.ts";
import type { Environment } from "../../../base/util/environment.ts";
import type { Authenticated, Authenticator, Credentials } from "../authenticator.ts";
import {
  type AuthenticationConfiguration,
  type JwtAuthenticator,
  readAuthenticationConfiguration,
} from "../oidc/configuration.ts";
import { JwtIssuers } from "../oidc/jwt-issuers.ts";
import { validateConfiguration } from "../oidc/validate-configuration.ts";
import { SIGNING_ALGORITHMS } from "../oidc/verify-token.ts";
import type { AuthenticationConfig, OidcFlags } from "../options.ts";

/** JWT authentication by `--authentication-config` or the `--oidc-*` flags. */
export interface JwtAuthentication {
  readonly authenticator: Authenticator;
  /** Configuration of anonymous requests. Absent if the file does not configure it. */
  readonly anonymous: AuthenticationConfiguration["anonymous"];
  close(): void;
}

/** How long the discovery of the issuers of a changed file may take. After that, the previous issuers are kept. */
const UPDATE_MS = 60_000;

/**
 * Reads the configuration of JWT issuers, and watches its file. Rejects with kube-apiserver's message if it is invalid.
 */
export async function prepareJwtAuthentication(
  config: AuthenticationConfig,
  serviceAccountIssuers: readonly string[],
  environment: Environment,
): Promise<JwtAuthentication> {
  const context = { disallowedIssuers: serviceAccountIssuers };
  const { configFile: file } = config;
  const text = file === undefined ? "" : await readLimited(file);
  const configuration = file === undefined ? await fromFlags(config.oidc) : read(text, file);
  const { anonymous } = configuration;
  if (anonymous !== undefined && config.anonymous !== undefined) {
    const reason =
      "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file";
    throw new Error(`anonymous: Forbidden: ${reason}`);
  }
  validateConfiguration(configuration, context);
  const algorithms = file === undefined ? (config.oidc?.signingAlgs ?? []) : SIGNING_ALGORITHMS;
  for (const name of algorithms) {
    if (!SIGNING_ALGORITHMS.includes(name)) throw new Error(`oidc: unsupported signing alg: "${name}"`);
  }
  const issuers = new ChangingIssuers(environment, algorithms);
  issuers.begin(configuration.jwt);
  const change = async (changed: string): Promise<void> => {
    const next = readAuthenticationConfiguration(changed);
    validateConfiguration(next, context);
    if (JSON.stringify(next.anonymous) !== JSON.stringify(anonymous)) {
      throw new Error("anonymous: Forbidden: changed from initial configuration file");
    }
    await issuers.replace(next.jwt);
    environment.log.info("reloaded authentication config", { file });
  };
  const failed = (error: unknown) =>
    environment.log.error("reloading the authentication config failed, keeping the previous one", { err: error, file });
  const watched =
    file === undefined ? undefined : new WatchedFile({ file, clock: environment.clock, changed: change, failed }, text);
  return {
    authenticator: issuers,
    anonymous,
    close() {
      watched?.close();
      issuers.close();
    },
  };
}

function read(text: string, file: string): AuthenticationConfiguration {
  try {
    return readAuthenticationConfiguration(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`failed to load authentication configuration from file ${JSON.stringify(file)}: ${reason}`);
  }
}

/** Compat: `ToAuthenticationConfig` converts the `--oidc-*` flags to one JWTAuthenticator. */
async function fromFlags(flags: OidcFlags | undefined): Promise<AuthenticationConfiguration> {
  if (flags === undefined) return { jwt: [] };
  const { issuerUrl, clientId, caFile, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = flags;
  const issuerPrefix = usernameClaim === "email" ? "" : `${issuerUrl}#`;
  const prefix = usernamePrefix === "" ? issuerPrefix : usernamePrefix === "-" ? "" : usernamePrefix;
  const authenticator: JwtAuthenticator = {
    issuer: {
      url: issuerUrl,
      audiences: [clientId],
      ...(caFile === undefined ? {} : { certificateAuthority: await readLimited(caFile) }),
    },
    claimValidationRules: Object.entries(flags.requiredClaims).map(([claim, requiredValue]) => ({
      claim,
      requiredValue,
    })),
    claimMappings: {
      username: { claim: usernameClaim, prefix },
      groups: groupsClaim === "" ? {} : { claim: groupsClaim, prefix: groupsPrefix },
      uid: {},
      extra: [],
    },
    userValidationRules: [],
  };
  return { jwt: [authenticator] };
}

/** Issuers that can be replaced while tokens are being verified. */
class ChangingIssuers implements Authenticator {
  readonly #environment: Environment;
  readonly #algorithms: readonly string[];
  readonly #client: HttpClient;
  #current: JwtIssuers | undefined;

  constructor(environment: Environment, algorithms: readonly string[]) {
    this.#environment = environment;
    this.#algorithms = algorithms;
    this.#client = new HttpClient(environment);
  }

  async authenticate(credentials: Credentials): Promise<Authenticated | undefined> {
    return this.#current?.authenticate(credentials);
  }

  /** Uses these issuers immediately. Tokens are rejected until the discovery of their issuer has finished. */
  begin(configurations: readonly JwtAuthenticator[]): void {
    if (configurations.length === 0) return;
    this.#current = this.#make(configurations);
    void this.#current.start();
  }

  /**
   * Uses these issuers once all of them have been discovered. If that takes too long, rejects and keeps the previous
   * ones.
   */
  async replace(configurations: readonly JwtAuthenticator[]): Promise<void> {
    const next = this.#make(configurations);
    const late = Promise.withResolvers<never>();
    const timer = this.#environment.clock.setTimer(UPDATE_MS, () => {
      next.close();
      late.reject(new Error("discovery of the token issuers timed out"));
    });
    try {
      await Promise.race([next.start(), late.promise]);
    } finally {
      timer.close();
    }
    this.#current?.close();
    this.#current = next;
  }

  close(): void {
    this.#current?.close();
    this.#client.close();
  }

  #make(configurations: readonly JwtAuthenticator[]): JwtIssuers {
    const { clock, log } = this.#environment;
    const algorithms = this.#algorithms;
    return new JwtIssuers(configurations, {
      clock,
      log,
      client: this.#client,
      algorithms,
    });
  }
}
