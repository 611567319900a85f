import { tooManyValues } from "../../../base/api/body-limits.ts";
import type { ApiRequest, Outcome } from "../../../base/api/call.ts";
import { hasFarTooManyValues } from "../../../data/encoding/json/json.ts";
import type { SentRequest } from "../../../serving/offload/messages.ts";

const NO_BYTES = new Uint8Array();

/** A request that the main thread has received. */
export class ThreadRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: ApiRequest["headers"];
  readonly authority: string;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /** The main thread authenticates callers. */
  readonly certificateChain = [];
  readonly upgrade = "";
  readonly #body: Uint8Array;
  readonly #aborting = new AbortController();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];

  constructor(sent: SentRequest) {
    this.method = sent.method;
    this.path = sent.path;
    this.query = new URLSearchParams(sent.query);
    this.headers = sent.headers;
    this.authority = sent.authority;
    this.remoteAddress = sent.remoteAddress;
    this.remotePort = sent.remotePort;
    this.#body = sent.body ?? NO_BYTES;
  }

  get uri(): string {
    return this.query.size === 0 ? this.path : `${this.path}?${this.query}`;
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  abort(reason?: unknown): void {
    this.#aborting.abort(reason);
  }

  /** The main thread has checked the size. The number of values is checked here, because that takes longer. */
  async readBody(): Promise<Uint8Array> {
    if (hasFarTooManyValues(this.#body)) throw tooManyValues();
    return this.#body;
  }

  async *bodyStream(): AsyncGenerator<Uint8Array> {
    yield this.#body;
  }

  whenFinished(listener: (outcome: Outcome) => void): void {
    this.#listeners.push(listener);
  }

  finish(outcome: Outcome): void {
    for (const listener of this.#listeners) listener(outcome);
  }
}
