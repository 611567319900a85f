import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../../base/util/clock.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

/** Options of a TokenCache. */
export interface TokenCacheOptions {
  readonly clock: Pick<Clock, "monotonic" | "setTimer">;
  /** How long the result for a valid token is cached. 0: not cached. */
  readonly successMs: number;
  /** How long the result for an unknown token is cached. 0: not cached. */
  readonly failureMs: number;
  /** Maximum number of entries; the oldest are evicted first. Default: 32,768. */
  readonly maxEntries?: number;
  readonly observer?: TokenCacheObserver;
}

/** Receives the hits, misses and verifications of a TokenCache. */
export interface TokenCacheObserver {
  /** A token was looked up. */
  requested(isHit: boolean, seconds: number): void;
  /**
   * The number of running verifications changed. `isOk`, given with -1, says whether a verification recognised the
   * token.
   */
  fetching(change: 1 | -1, isOk?: boolean): void;
}

const UNOBSERVED: TokenCacheObserver = { requested: () => {}, fetching: () => {} };

/** Compat: kube-apiserver's `cachedTokenAuthenticator` is made for 32,000 tokens. */
const MAX_ENTRIES = 32_768;
/** Timeout of a verification, shared by all requests that wait for it. */
const LOOKUP_MS = 30_000;

interface Entry {
  readonly found: Authenticated | undefined;
  readonly untilMs: number;
}

interface Shown {
  readonly token: string;
  readonly audiences: readonly string[] | undefined;
  readonly key: string;
}

/**
 * Caches the users of bearer tokens, so that a token is not verified with every request. The cache key is a hash with a
 * secret prefix. Concurrent requests with the same token share one verification.
 */
export class TokenCache implements Authenticator {
  readonly #authenticator: Authenticator;
  readonly #options: TokenCacheOptions;
  readonly #maxEntries: number;
  readonly #observer: TokenCacheObserver;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Authenticated | undefined>>();
  /**
   * The last token per connection, identified by the certificate array that all requests of the connection share.
   * Connections never see each other's tokens.
   */
  readonly #lastShown = new WeakMap<object, Shown>();
  readonly #secret = randomBytes(32).toString("base64");

  constructor(authenticator: Authenticator, options: TokenCacheOptions) {
    this.#authenticator = authenticator;
    this.#options = options;
    this.#maxEntries = options.maxEntries ?? MAX_ENTRIES;
    this.#observer = options.observer ?? UNOBSERVED;
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  authenticate(credentials: Credentials): Eventually<Authenticated | undefined> {
    const { bearerToken, audiences, certificateChain: connection } = credentials;
    if (bearerToken === undefined || bearerToken === "") return undefined;
    const key = this.#keyFor(bearerToken, audiences, connection);
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      const isFresh = entry.untilMs > this.#options.clock.monotonic() && (entry.found?.isStillGood?.() ?? true);
      if (isFresh) {
        this.#observer.requested(true, 0);
        return entry.found;
      }
      this.#entries.delete(key);
    }
    return this.#verify(key, { bearerToken, audiences, headers: {} });
  }

  async #verify(key: string, credentials: Credentials): Promise<Authenticated | undefined> {
    const startMs = this.#options.clock.monotonic();
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      pending = this.#look(key, credentials).finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    try {
      return await pending;
    } finally {
      this.#observer.requested(false, (this.#options.clock.monotonic() - startMs) / 1000);
    }
  }

  async #look(key: string, credentials: Credentials): Promise<Authenticated | undefined> {
    const { clock, successMs, failureMs } = this.#options;
    const late = Promise.withResolvers<never>();
    const timer = clock.setTimer(LOOKUP_MS, () => late.reject(new AuthenticationError("context deadline exceeded")));
    let isOk = false;
    this.#observer.fetching(1);
    try {
      const found = await Promise.race([this.#authenticator.authenticate(credentials), late.promise]);
      isOk = found !== undefined;
      const keptMs = found ? successMs : failureMs;
      if (keptMs > 0) this.#keep(key, { found, untilMs: clock.monotonic() + keptMs });
      return found;
    } finally {
      timer.close();
      this.#observer.fetching(-1, isOk);
    }
  }

  #keep(key: string, entry: Entry): void {
    const now = this.#options.clock.monotonic();
    // Entries are in insertion order, which is roughly the order in which they expire.
    for (const [oldest, { untilMs }] of this.#entries) {
      if (untilMs > now && this.#entries.size < this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, entry);
  }

  /** Cache key of a token. Reuses the key if the connection sent the same token last time. */
  #keyFor(token: string, audiences: readonly string[] | undefined, connection: object | undefined): string {
    if (connection === undefined) return this.#keyOf(token, audiences);
    const last = this.#lastShown.get(connection);
    if (last?.token === token && last.audiences === audiences) return last.key;
    const key = this.#keyOf(token, audiences);
    this.#lastShown.set(connection, { token, audiences, key });
    return key;
  }

  /** Each part is prefixed with its length, so that different inputs never produce the same text. */
  #keyOf(token: string, audiences: readonly string[] | undefined): string {
    let text = `${this.#secret}${token.length} ${token}`;
    if (audiences) for (const audience of audiences) text += `${audience.length} ${audience}`;
    return hash("sha256", text, "base64");
  }
}
