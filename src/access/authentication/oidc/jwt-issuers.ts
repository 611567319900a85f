import type { HttpClient } from "../../../base/net/http-client.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Log } from "../../../base/util/environment.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "../authenticator.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { claimMapping, type MapClaims } from "./map-claims.ts";
import { claimedIssuer, verifyToken } from "./verify-token.ts";

/** Options of JwtIssuers. */
export interface JwtIssuersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly client: Pick<HttpClient, "send">;
  /** Accepted signature algorithms. */
  readonly algorithms: readonly string[];
}

interface Issuer {
  readonly configuration: JwtAuthenticator;
  readonly keys: IssuerKeys;
  readonly map: MapClaims;
}

/** Pause before discovery is retried after a failure. */
const RETRY_MS = 10_000;

/** Authenticates tokens of OpenID Connect issuers. */
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

  /** Runs discovery for all issuers. Resolves when each has succeeded or `close` was called. */
  async start(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map((issuer) => this.#find(issuer)));
  }

  /** Stops discovery. */
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
        const text = `OIDC discovery failed, retrying in ${RETRY_MS / 1000} s; tokens of this issuer are rejected until it succeeds`;
        log.error(text, { issuer: configuration.issuer.url, reason });
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }
}
