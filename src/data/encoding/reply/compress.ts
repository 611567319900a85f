import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { type EncodedReply, headerOf } from "./encoded-reply.ts";

/** Bodies up to this size are not compressed. */
export const COMPRESS_ABOVE_BYTES = 128 * 1024;

/** Whether the client accepts gzip. Compat: `gzip` in Accept-Encoding is recognized, `gzip;q=1` is not. */
export function acceptsGzip(headers: Readonly<Record<string, string | readonly string[] | undefined>>): boolean {
  const accepted = headerOf(headers, "accept-encoding");
  return accepted?.split(",").some((token) => token.trim() === "gzip") ?? false;
}

/** Compresses the body of a response. Compression runs outside the event loop. */
export function compress(reply: EncodedReply): EncodedReply {
  const { body, headers } = reply;
  const source = typeof body === "string" ? [Buffer.from(body)] : body instanceof Uint8Array ? [body] : body;
  return {
    ...reply,
    headers: {
      ...headers,
      "content-encoding": "gzip",
      vary: headers.vary === undefined ? "Accept-Encoding" : [headers.vary, "Accept-Encoding"].flat(),
    },
    body: gzip(source),
  };
}

async function* gzip(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = Readable.from(source, { objectMode: false });
  const output = createGzip({ level: 1 });
  input.on("error", (error) => output.destroy(error));
  input.pipe(output);
  try {
    yield* output;
  } finally {
    // Also reached when the client disconnects: ends the source, too.
    input.destroy();
    output.destroy();
  }
}
