import type { HttpClient } from "../../client/http-client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "../authenticator.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { claimMapping, type MapClaims } from "./map-claims.ts";
import { claimedIssuer, verifyToken } from "./verify-token.ts";

/** What issuers are asked with. */
export interface JwtIssuersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly client: Pick<HttpClient, "send">;
  /** Algorithms of signatures that are accepted. */
  readonly algorithms: readonly string[];
}

interface Issuer {
  readonly configuration: JwtAuthenticator;
  readonly keys: IssuerKeys;
  readonly map: MapClaims;
}

/** How long after a failure an issuer is looked for again. */
const RETRY_MS = 10_000;

/** Authenticates the tokens of the issuers of one configuration: OpenID Connect. */
export class JwtIssuers implements Authenticator {
  readonly #options: JwtIssuersOptions;
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #stopping = new AbortController();

  constructor(configurations: readonly JwtAuthenticator[], options: JwtIssuersOptions) {
    this.#options = options;
    this.#issuers = new Map(
      configurations.map((configuration) => {
        const { clock, client } = options;
        const { url, discoveryURL, certificateAuthority } = configuration.issuer;
        const keys = new IssuerKeys({
          url,
          ...(discoveryURL === undefined ? {} : { discoveryURL }),
          ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
          client,
          clock,
        });
        return [url, { configuration, keys, map: claimMapping(configuration) }];
      }),
    );
  }

  /** Looks for all issuers until each has been found, or this is closed. */
  async start(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map((issuer) => this.#find(issuer)));
  }

  /** Nobody is looked for any more. */
  close(): void {
    this.#stopping.abort();
  }

  async authenticate({ bearerToken = "" }: Credentials): Promise<Authenticated | undefined> {
    const issuer = this.#issuers.get(claimedIssuer(bearerToken) ?? "");
    if (issuer === undefined) return undefined;
    const { configuration, keys, map } = issuer;
    if (!keys.isReady) throw new AuthenticationError("oidc: authenticator not initialized");
    const { clock, algorithms } = this.#options;
    const { url, audiences } = configuration.issuer;
    return {
      user: map(await verifyToken(bearerToken, { issuer: url, audiences, algorithms, keys, now: clock.now() })),
    };
  }

  async #find({ configuration, keys }: Issuer): Promise<void> {
    const { signal } = this.#stopping;
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        await keys.discover();
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : "";
        log.error("oidc authenticator: initializing plugin", { issuer: configuration.issuer.url, reason });
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
}
