import { STATUS_CODES } from "node:http";
import { buffer } from "node:stream/consumers";
import type { ReceivedResponse, Send } from "../../serving/http/fetch.ts";

/** The options that undici's `fetch` passes to its dispatcher. */
interface DispatchOptions {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The callbacks that undici's `fetch` passes to its dispatcher. */
interface ResponseHandler {
  onRequestStart(controller: Transfer, context: object): void;
  onResponseStart(controller: Transfer, status: number, headers: Record<string, string>, statusText: string): void;
  onResponseData(controller: Transfer, chunk: Uint8Array): void;
  onResponseEnd(controller: Transfer, trailers: object): void;
  onResponseError(controller: Transfer, error: unknown): void;
}

/** What undici's `fetch` calls instead of opening connections. */
export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: ResponseHandler): boolean;
}

/** A dispatcher for undici's `fetch` that sends requests without a socket. */
export function dispatcherOf(send: Send): Dispatcher {
  return {
    dispatch(options, handler) {
      const transfer = new Transfer(handler);
      handler.onRequestStart(transfer, {});
      void transfer.run(send, options);
      return true;
    },
  };
}

/** One request and its response. undici's `fetch` controls it. */
class Transfer {
  /** Names and values in turn. undici's `fetch` reads these, not the headers that it is called with. */
  rawHeaders: Buffer[] = [];
  readonly #handler: ResponseHandler;
  readonly #controller = new AbortController();
  #resumed: PromiseWithResolvers<void> | undefined;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get reason(): unknown {
    return this.#controller.signal.reason;
  }

  get paused(): boolean {
    return this.#resumed !== undefined;
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.#controller.abort(reason);
    this.resume();
    this.#handler.onResponseError(this, reason);
  }

  async run(send: Send, { origin, path, method, headers, body }: DispatchOptions): Promise<void> {
    const { signal } = this.#controller;
    try {
      const url = new URL(origin + path);
      const sent = async () => (body === null ? Buffer.alloc(0) : buffer(body));
      await this.#receive(await send({ method, url, headers: inLowerCase(headers), signal, body: sent }));
    } catch (error) {
      if (!this.aborted) this.#handler.onResponseError(this, error);
    }
  }

  async #receive({ status, headers, body }: ReceivedResponse): Promise<void> {
    const chunks = typeof body === "string" || body instanceof Uint8Array ? [Buffer.from(body)] : body;
    if (!this.aborted) {
      this.rawHeaders = rawHeadersOf(headers);
      this.#handler.onResponseStart(this, status, {}, STATUS_CODES[status] ?? "");
    }
    for await (const chunk of chunks) {
      if (this.aborted) return;
      this.#handler.onResponseData(this, chunk);
      await this.#resumed?.promise;
    }
    if (!this.aborted) this.#handler.onResponseEnd(this, {});
  }
}

function inLowerCase(headers: DispatchOptions["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function rawHeadersOf(headers: ReceivedResponse["headers"]): Buffer[] {
  const pairs = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]));
  return pairs.map((text) => Buffer.from(text, "latin1"));
}
