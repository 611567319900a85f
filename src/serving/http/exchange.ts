import type { X509Certificate } from "node:crypto";
import type { Readable } from "node:stream";
import type { ApiRequest, Outcome } from "../../base/api/call.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { readAll, readChunks } from "./body-reader.ts";
import type { Delivery } from "./pump.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { parseQuery, type RequestTarget } from "./target.ts";

/** What an exchange requires of its protocol, HTTP/1.1 or HTTP/2. */
export interface Carrier {
  readonly source: Readable;
  /** Whether the request may have a body. */
  readonly hasBody: boolean;
  /** Sends 100 Continue. */
  sendContinue(): void;
  certificateChain(): readonly X509Certificate[];
  /** Address of the client. */
  readonly remote:
    | { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined }
    | undefined;
  /** Whether the whole reply has been delivered. */
  readonly isDelivered: boolean;
  /** Bytes written that the socket has not accepted yet. */
  readonly unsentBytes: number;
  /**
   * Writes a reply; returns a promise only if that takes longer. Rejects if the body fails; the client then sees a
   * broken connection instead of a truncated reply. `isLast` asks the client to use another connection next.
   */
  send(reply: EncodedReply, isLast: boolean, delivery: Delivery): Promise<void> | undefined;
  /** Destroys the stream or connection of a request that cannot be answered. */
  giveUp(): void;
}

/** A request and the delivery of its reply. Most members are created on first use. */
export class Exchange implements ApiRequest, Delivery {
  readonly method: string;
  readonly path: string;
  readonly uri: string;
  readonly headers: RequestHeaders;
  readonly authority: string;
  upgrade = "";
  /** 0 until the request is answered. */
  code = 0;
  bytes = 0;
  error: unknown;
  /** The client disconnected before it had the whole reply. */
  isClientGone = false;
  /** The reply has no natural end, such as a watch. */
  isLongRunning = false;
  /** The whole reply has been written to the socket. */
  isReplied = false;
  readonly carrier: Carrier;
  readonly #rawQuery: string;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #isAborted = false;
  #abortReason: unknown;
  #isFinished = false;
  #listeners: ((outcome: Outcome) => void)[] | undefined;
  /** Kept, because a request that turns out to be costly starts over with it. */
  #body: Promise<Uint8Array> | undefined;

  constructor(method: string, target: RequestTarget, headers: RequestHeaders, carrier: Carrier) {
    this.method = method;
    this.path = target.path;
    this.uri = target.uri;
    this.#rawQuery = target.rawQuery;
    this.headers = headers;
    this.carrier = carrier;
    const authority = headers[":authority"] ?? headers.host;
    this.authority = typeof authority === "string" ? authority : "";
  }

  get query(): URLSearchParams {
    this.#query ??= parseQuery(this.#rawQuery);
    return this.#query;
  }

  get certificateChain(): readonly X509Certificate[] {
    return this.carrier.certificateChain();
  }

  get remoteAddress(): string | undefined {
    return this.carrier.remote?.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.carrier.remote?.remotePort;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#isAborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  whenFinished(listener: (outcome: Outcome) => void): void {
    if (this.#isFinished) listener(this.#outcome());
    else if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  /** Ends the exchange: the reply has been delivered completely, or never will be. Later calls are ignored. */
  finish(isDelivered: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (!isDelivered) this.clientLeft();
    if (this.#listeners === undefined) return;
    const outcome = this.#outcome();
    for (const listener of this.#listeners) listener(outcome);
  }

  /** Records that the client disconnected, unless another error is already known. */
  clientLeft(): void {
    if (this.error !== undefined) return;
    this.isClientGone = true;
    this.error = new Error("client disconnected");
  }

  #outcome(): Outcome {
    const { code, bytes, error } = this;
    return error === undefined ? { code, bytes } : { code, bytes, error };
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    if (this.#isEmpty) return Promise.resolve(NO_BYTES);
    if (this.#body === undefined) {
      this.#askForBody(maxBytes);
      this.#body = readAll(this.carrier.source, this.#declaredBytes, maxBytes);
    }
    return this.#body;
  }

  async *bodyStream(maxBytes = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
    if (this.#isEmpty) return;
    this.#askForBody(maxBytes);
    yield* readChunks(this.carrier.source, this.#declaredBytes, maxBytes);
  }

  get #declaredBytes(): number | undefined {
    const declared = this.headers["content-length"];
    return typeof declared === "string" ? Number(declared) : undefined;
  }

  get #isEmpty(): boolean {
    return !this.carrier.hasBody || this.#declaredBytes === 0;
  }

  #askForBody(maxBytes: number): void {
    if ((this.#declaredBytes ?? 0) <= maxBytes && this.headers.expect !== undefined) this.carrier.sendContinue();
  }
}

const NO_BYTES = new Uint8Array();
