import type { Authenticated, Authenticator, Credentials } from "../../auth/authenticator.ts";
import {
  type AuthenticationConfiguration,
  type JwtAuthenticator,
  readAuthenticationConfiguration,
} from "../../auth/oidc/configuration.ts";
import { JwtIssuers } from "../../auth/oidc/jwt-issuers.ts";
import { validateConfiguration } from "../../auth/oidc/validate-configuration.ts";
import { SIGNING_ALGORITHMS } from "../../auth/oidc/verify-token.ts";
import { HttpClient } from "../../client/http-client.ts";
import type { Environment } from "../../lib/environment.ts";
import { readLimited, WatchedFile } from "../watched-file.ts";
import type { AuthenticationConfig, OidcFlags } from "./config.ts";

/** What `--authentication-config` or the `--oidc-*` flags say. */
export interface JwtAuthentication {
  readonly authenticator: Authenticator;
  /** What the file says about anonymous requests. Absent: nothing. */
  readonly anonymous: AuthenticationConfiguration["anonymous"];
  close(): void;
}

/** How long a changed file's issuers may take to be found; after that the old ones stay. */
const UPDATE_MS = 60_000;

/** Reads the configuration of issuers, and follows its file. Rejects, in kube-apiserver's words, when it is wrong. */
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
    environment.log.error("failed to reload authentication config", { err: error, file });
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

/** Compat: `ToAuthenticationConfig` makes one JWTAuthenticator of the `--oidc-*` flags. */
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

/** Issuers that can be replaced while tokens are verified. */
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

  /** Takes these at once; tokens are refused until their issuers have been found. */
  begin(configurations: readonly JwtAuthenticator[]): void {
    if (configurations.length === 0) return;
    this.#current = this.#make(configurations);
    void this.#current.start();
  }

  /** Takes these once all of them have been found. Rejects, and changes nothing, when that takes too long. */
  async replace(configurations: readonly JwtAuthenticator[]): Promise<void> {
    const next = this.#make(configurations);
    const late = Promise.withResolvers<never>();
    const timer = this.#environment.clock.setTimer(UPDATE_MS, () => {
      next.close();
      late.reject(new Error("not all issuers of tokens have been found"));
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
