import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { isObject, type JsonObject } from "../../../base/api/object.ts";
import type { HttpAnswer, HttpClient } from "../../../base/net/http-client.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { parseForeignJson } from "../../../data/encoding/json/json.ts";

/** A public key of an issuer. */
export interface IssuerKey {
  /** The `kid`. Empty if the key has none. */
  readonly id: string;
  readonly key: KeyObject;
}

/** Where and how to fetch the keys of an issuer. */
export interface IssuerKeysOptions {
  readonly url: string;
  readonly discoveryURL?: string;
  /** In PEM. If omitted, the system's CAs are used. */
  readonly certificateAuthority?: string;
  readonly client: Pick<HttpClient, "send">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Maximum size of a discovery document or key set. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 256;
const TIMEOUT_MS = 30_000;
/** Minimum interval between fetches, so that tokens with wrong signatures do not cause more requests to the issuer. */
const PAUSE_MS = 1000;

/**
 * The keys of an issuer, found by OpenID Connect discovery. They are fetched again if no known key has signed a token,
 * because the issuer may have rotated them.
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

  /** The known keys. */
  get current(): readonly IssuerKey[] {
    return this.#keys;
  }

  /** Whether discovery has succeeded. */
  get isReady(): boolean {
    return this.#location !== undefined;
  }

  /** Fetches the discovery document, which names the location of the keys. Rejects with an Error on failure. */
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

  /**
   * Fetches the issuer's keys. Returns the known ones if the last fetch was less than PAUSE_MS ago. Rejects with an
   * Error on failure.
   */
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
    if (!Array.isArray(keys)) throw new Error("oidc: failed to decode keys: keys is not a list");
    if (keys.length > MAX_KEYS) throw new Error(`oidc: failed to decode keys: more than ${MAX_KEYS} keys`);
    this.#keys = keys.flatMap((key) => (isObject(key) ? readKey(key) : []));
    return this.#keys;
  }

  async #get(url: string): Promise<HttpAnswer> {
    const { client, certificateAuthority } = this.#options;
    const tls = certificateAuthority ? { ca: certificateAuthority } : {};
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, maxRedirects: 10 };
    const answer = await client.send(new URL(url), { tls, ...limits });
    if (answer.status !== 200) throw new Error(`oidc: ${url} answered with status ${answer.status}`);
    return answer;
  }
}

function readJson({ body }: HttpAnswer, context: string): JsonObject {
  try {
    const value: unknown = parseForeignJson(body);
    if (isObject(value)) return value;
  } catch {
    // The response of the issuer is not logged.
  }
  throw new Error(`${context}: not a JSON object`);
}

/** Keys of other types, such as shared secrets, are skipped: no accepted algorithm uses them. */
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
