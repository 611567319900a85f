import type { IncomingMessage } from "node:http";
import { pipeline, Transform, type TransformCallback } from "node:stream";
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from "node:zlib";
import { answeredHeaders, type PassedHeaders } from "../exchange.ts";
import { HtmlRewriter } from "./rewrite-html.ts";
import { type RewriteBase, rewriteUrl } from "./rewrite-url.ts";

/** A response on its way to the client. */
export interface ProxiedAnswer {
  readonly headers: PassedHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Rewrites `Location` and the links of an HTML page so they lead through the proxy. Upstream: `Transport.RoundTrip`.
 */
export function rewriteAnswer(response: IncomingMessage, base: RewriteBase): ProxiedAnswer {
  const headers = answeredHeaders(response);
  const { location } = response.headers;
  if (location !== undefined && location !== "") {
    return { headers: { ...headers, location: rewriteUrl(location, base) }, body: response };
  }
  const [type = ""] = (response.headers["content-type"] ?? "").split(";", 1);
  const encoding = response.headers["content-encoding"] ?? "";
  if (type.trim() !== "text/html" || !ENCODINGS.includes(encoding)) return { headers, body: response };
  delete headers["content-length"];
  return { headers, body: rewriteBody(response, encoding, (url) => rewriteUrl(url, base)) };
}

const ENCODINGS: readonly string[] = ["", "gzip", "deflate"];

/** Compat: for "deflate", `Transport.rewriteResponse` uses compress/flate, which has no zlib header. */
function rewriteBody(
  response: IncomingMessage,
  encoding: string,
  rewrite: (url: string) => string,
): AsyncIterable<Uint8Array> {
  const links = linkTransform(rewrite);
  const failed = (): void => {};
  if (encoding === "") return pipeline(response, links, failed);
  const [unpack, pack] =
    encoding === "gzip" ? [createGunzip(), createGzip()] : [createInflateRaw(), createDeflateRaw()];
  return pipeline(response, unpack, links, pack, failed);
}

function linkTransform(rewrite: (url: string) => string): Transform {
  const rewriter = new HtmlRewriter(rewrite);
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      done(null, Buffer.from(rewriter.push(chunk.toString("latin1")), "latin1"));
    },
    flush(done: TransformCallback) {
      done(null, Buffer.from(rewriter.end(), "latin1"));
    },
  });
}
