import type { X509Certificate } from "node:crypto";
import type { Readable } from "node:stream";
import type { ApiRequest } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { readAll } from "./body-reader.ts";
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
  /**
   * Writes a reply; a promise only where that takes longer. It rejects when the body fails; the client then sees a
   * broken connection, not a short answer. `isLast` asks the client not to come back by this connection.
   */
  send(reply: EncodedReply, isLast: boolean): Promise<void> | undefined;
  /** Cuts off a request that cannot be answered. */
  giveUp(): void;
}

/** One request as the rest of the program sees it, until its reply is written. Most members are made at first need. */
export class Exchange implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly authority: string;
  /** The reply lasts until somebody ends it. */
  isLongRunning = false;
  /** The whole reply has been handed to the socket. */
  isReplied = false;
  readonly carrier: Carrier;
  readonly #rawQuery: string;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(method: string, target: RequestTarget, headers: RequestHeaders, carrier: Carrier) {
    this.method = method;
    this.path = target.path;
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
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Tells whoever works on this request that nobody waits for the rest of it. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  readBody(maxBytes: number): Promise<Uint8Array> {
    const declared = this.headers["content-length"];
    const declaredBytes = typeof declared === "string" ? Number(declared) : undefined;
    if (!this.carrier.hasBody || declaredBytes === 0) return Promise.resolve(new Uint8Array());
    const isTooLarge = declaredBytes !== undefined && declaredBytes > maxBytes;
    if (!isTooLarge && this.headers.expect !== undefined) this.carrier.sendContinue();
    return readAll(this.carrier.source, declaredBytes, maxBytes);
  }
}
