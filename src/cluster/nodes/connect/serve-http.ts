import type { IncomingMessage, ServerResponse } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** Answers an HTTP request. */
export type AnswerHttp = (request: Request) => Response | Promise<Response>;

/** Serves HTTP/1.1 on a connection that may have no socket. Resolves when the connection has ended. */
export async function serveHttp(connection: Duplex, answer: AnswerHttp): Promise<void> {
  // Imported on first use: see `listen` about the cost of node:http at startup.
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    reply(request, response, answer).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(error instanceof Error ? `${error.message}\n` : "");
    });
  });
  server.emit("connection", connection);
  await finished(connection).catch(() => undefined);
}

async function reply(message: IncomingMessage, response: ServerResponse, answer: AnswerHttp): Promise<void> {
  const { method = "GET", url = "/", headers } = message;
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? { body: Readable.toWeb(message) as ReadableStream<Uint8Array>, duplex: "half" as const } : {};
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const request = new Request(new URL(url, `http://${headers.host ?? "localhost"}`), {
    method,
    headers: pairs,
    ...body,
  });
  const answered = await answer(request);
  response.writeHead(answered.status, [...answered.headers].flat());
  if (answered.body && method !== "HEAD") await pipeline(Readable.fromWeb(answered.body as ReadableStream), response);
  else response.end();
}
