import { hash, randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { Eventually } from "../lib/eventually.ts";
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from "./authenticator.ts";

/** How long answers are kept. */
export interface TokenCacheOptions {
  readonly clock: Pick<Clock, "monotonic" | "setTimer">;
  /** 0: not at all. */
  readonly successMs: number;
  /** For tokens that nobody recognised. 0: not at all. */
  readonly failureMs: number;
  /** How many answers are kept at most; the oldest go first. */
  readonly maxEntries?: number;
  readonly observer?: TokenCacheObserver;
}

/** Hears how often the cache is of use. */
export interface TokenCacheObserver {
  /** A token was looked up. */
  requested(isHit: boolean, seconds: number): void;
  /** Tokens are verified: so many more, or less, and how one of them ended. */
  fetching(change: 1 | -1, isOk?: boolean): void;
}

const UNOBSERVED: TokenCacheObserver = { requested: () => {}, fetching: () => {} };

/** Compat: kube-apiserver's `cachedTokenAuthenticator` is made for 32,000 tokens. */
const MAX_ENTRIES = 32_768;
/** Those who wait for the same answer do not wait longer. */
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
 * Remembers whom tokens stand for, so that the same token is not verified with every request. Tokens are known by a hash
 * that nobody else can compute. Requests with the same token that come at the same time are answered by one verification.
 */
export class TokenCache implements Authenticator {
  readonly #authenticator: Authenticator;
  readonly #options: TokenCacheOptions;
  readonly #maxEntries: number;
  readonly #observer: TokenCacheObserver;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Authenticated | undefined>>();
  /** By the array of certificates that all requests of a connection have in common; nobody learns of tokens of others by it. */
  readonly #lastShown = new WeakMap<object, Shown>();
  readonly #secret = randomBytes(32).toString("base64");

  constructor(authenticator: Authenticator, options: TokenCacheOptions) {
    this.#authenticator = authenticator;
    this.#options = options;
    this.#maxEntries = options.maxEntries ?? MAX_ENTRIES;
    this.#observer = options.observer ?? UNOBSERVED;
  }

  /** How many answers are kept. */
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
    // Entries stand in the order in which they were made, which is about the order in which they end.
    for (const [oldest, { untilMs }] of this.#entries) {
      if (untilMs > now && this.#entries.size < this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, entry);
  }

  /** The key of a token; a connection that shows the same one again gets the key that it was given before. */
  #keyFor(token: string, audiences: readonly string[] | undefined, connection: object | undefined): string {
    if (connection === undefined) return this.#keyOf(token, audiences);
    const last = this.#lastShown.get(connection);
    if (last?.token === token && last.audiences === audiences) return last.key;
    const key = this.#keyOf(token, audiences);
    this.#lastShown.set(connection, { token, audiences, key });
    return key;
  }

  /** Every part has its length in front, so that no two questions have the same key. */
  #keyOf(token: string, audiences: readonly string[] | undefined): string {
    let text = `${this.#secret}${token.length} ${token}`;
    if (audiences) for (const audience of audiences) text += `${audience.length} ${audience}`;
    return hash("sha256", text, "base64");
  }
}
