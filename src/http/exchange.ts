import type { X509Certificate } from "node:crypto";
import type { Readable } from "node:stream";
import type { ApiRequest, Outcome } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { readAll, readChunks } from "./body-reader.ts";
import type { Delivery } from "./pump.ts";
import type { RequestHeaders } from "./request-headers.ts";
import { parseQuery, type RequestTarget } from "./target.ts";

/** What an exchange needs from the protocol that carries it. */
export interface Carrier {
  readonly source: Readable;
  /** Whether any body can follow the head. */
  readonly hasBody: boolean;
  /** Tells a client that waits for it to send its body. */
  sendContinue(): void;
  certificateChain(): readonly X509Certificate[];
  /** Where the client is. */
  readonly remote:
    | { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined }
    | undefined;
  /** Whether all of the reply is out. */
  readonly isDelivered: boolean;
  /** How much of what was handed over the client's side has not taken yet. */
  readonly unsentBytes: number;
  /**
   * Writes a reply; a promise only where that takes longer. It rejects when the body fails; the client then sees a
   * broken connection, not a short answer. `isLast` asks the client not to come back by this connection.
   */
  send(reply: EncodedReply, isLast: boolean, delivery: Delivery): Promise<void> | undefined;
  /** Cuts off a request that cannot be answered. */
  giveUp(): void;
}

/** One request as the rest of the program sees it, until its reply is written. Most members are made at first need. */
export class Exchange implements ApiRequest, Delivery {
  readonly method: string;
  readonly path: string;
  readonly uri: string;
  readonly headers: RequestHeaders;
  readonly authority: string;
  upgrade = "";
  /** 0: not answered yet. */
  code = 0;
  bytes = 0;
  error: unknown;
  /** The client left before it had the whole reply. */
  isClientGone = false;
  /** The reply lasts until somebody ends it. */
  isLongRunning = false;
  /** The whole reply has been handed to the socket. */
  isReplied = false;
  readonly carrier: Carrier;
  readonly #rawQuery: string;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #isAborted = false;
  #abortReason: unknown;
  #isFinished = false;
  #listeners: ((outcome: Outcome) => void)[] | undefined;

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

  /** The connection has taken the whole reply, or will never take the rest of it. Only the first time counts. */
  finish(isDelivered: boolean): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (!isDelivered) this.clientLeft();
    if (this.#listeners === undefined) return;
    const outcome = this.#outcome();
    for (const listener of this.#listeners) listener(outcome);
  }

  /** Notes that the rest of the reply has no reader, unless it is known already why it ended. */
  clientLeft(): void {
    if (this.error !== undefined) return;
    this.isClientGone = true;
    this.error = new Error("the client is gone");
  }

  #outcome(): Outcome {
    const { code, bytes, error } = this;
    return error === undefined ? { code, bytes } : { code, bytes, error };
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    if (this.#isEmpty) return Promise.resolve(NO_BYTES);
    this.#askForBody(maxBytes);
    return readAll(this.carrier.source, this.#declaredBytes, maxBytes);
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
