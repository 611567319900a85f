import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { isObject, type JsonObject } from "../../api/object.ts";
import type { HttpAnswer, HttpClient } from "../../client/http-client.ts";
import type { Clock } from "../../lib/clock.ts";

/** A key that an issuer signs with. */
export interface IssuerKey {
  /** Empty: it has none. */
  readonly id: string;
  readonly key: KeyObject;
}

/** Where an issuer says which keys it signs with. */
export interface IssuerKeysOptions {
  readonly url: string;
  readonly discoveryURL?: string;
  /** In PEM. Absent: those of the system. */
  readonly certificateAuthority?: string;
  readonly client: Pick<HttpClient, "send">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** No issuer has a discovery document or a key set that is longer. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 256;
const TIMEOUT_MS = 30_000;
/** Whoever sends tokens with wrong signatures makes us ask the issuer no more often. */
const PAUSE_MS = 1000;

/**
 * The keys of an issuer, by OpenID Connect discovery. They are asked for again when none of those that are known has signed
 * a token, since the issuer may have changed them.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #location: string | undefined;
  #keys: readonly IssuerKey[] = [];
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<readonly IssuerKey[]> | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The keys that are known. */
  get current(): readonly IssuerKey[] {
    return this.#keys;
  }

  /** Whether the issuer has been found. */
  get isReady(): boolean {
    return this.#location !== undefined;
  }

  /** Asks the issuer where its keys are. Throws an Error when that cannot be told. */
  async discover(): Promise<void> {
    const { url, discoveryURL } = this.#options;
    const wellKnown = `${url.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const answer = await this.#get(discoveryURL || wellKnown);
    const document = readJson(answer, "oidc: failed to decode provider discovery object");
    const { issuer, jwks_uri: location } = document;
    if (issuer !== url) {
      const found = JSON.stringify(issuer ?? "");
      throw new Error(`oidc: issuer did not match the issuer returned by provider, expected "${url}" got ${found}`);
    }
    if (typeof location !== "string" || location === "") throw new Error("provider did not return JWKS URL");
    this.#location = location;
  }

  /** The keys as the issuer has them now, or those of a moment ago. Throws an Error when it does not tell them. */
  refresh(): Promise<readonly IssuerKey[]> {
    const now = this.#options.clock.monotonic();
    if (this.#fetching === undefined) {
      if (now - this.#fetchedMs < PAUSE_MS) return Promise.resolve(this.#keys);
      this.#fetchedMs = now;
      this.#fetching = this.#fetch().finally(() => {
        this.#fetching = undefined;
      });
    }
    return this.#fetching;
  }

  async #fetch(): Promise<readonly IssuerKey[]> {
    if (this.#location === undefined) throw new Error("oidc: authenticator not initialized");
    const { keys } = readJson(await this.#get(this.#location), "oidc: failed to decode keys");
    if (!Array.isArray(keys)) throw new Error("oidc: failed to decode keys: there is no list of keys");
    if (keys.length > MAX_KEYS) throw new Error(`oidc: failed to decode keys: there are more than ${MAX_KEYS}`);
    this.#keys = keys.flatMap((key) => (isObject(key) ? readKey(key) : []));
    return this.#keys;
  }

  async #get(url: string): Promise<HttpAnswer> {
    const { client, certificateAuthority } = this.#options;
    const tls = certificateAuthority ? { ca: certificateAuthority } : {};
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, maxRedirects: 10 };
    const answer = await client.send(new URL(url), { tls, ...limits });
    if (answer.status !== 200) throw new Error(`oidc: ${url} was answered with ${answer.status}`);
    return answer;
  }
}

function readJson({ body }: HttpAnswer, context: string): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (isObject(value)) return value;
  } catch {
    // What the issuer sent is nothing for a log.
  }
  throw new Error(`${context}: it is no JSON object`);
}

/** Keys of other kinds, such as shared secrets, are passed over: nothing that is accepted is signed with them. */
function readKey(key: JsonObject): IssuerKey[] {
  const { kty, kid } = key;
  if (kty !== "RSA" && kty !== "EC") return [];
  try {
    const { n, e, crv, x, y } = key;
    const jwk = { kty, n, e, crv, x, y } as JsonWebKey;
    return [{ id: typeof kid === "string" ? kid : "", key: createPublicKey({ key: jwk, format: "jwk" }) }];
  } catch {
    return [];
  }
}
