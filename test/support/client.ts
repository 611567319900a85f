import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { linesOf } from "./lines-of.ts";

/** A decoded response. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly body: any;
}

/** A JSON client for one server and one user. Does not verify the server certificate. */
export interface Client {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Opens a watch and yields its events. Ends when the signal aborts. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of any shape
  watch(path: string, signal: AbortSignal): AsyncGenerator<any>;
}

/** A client for the server at `base`. */
export function clientFor(base: string, token: string): Client {
  const open = (method: string, path: string, payload: string, headers: Record<string, string>, signal?: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method,
        signal,
        rejectUnauthorized: false,
        headers: {
          authorization: `Bearer ${token}`,
          "user-agent": "binnacle-test",
          // Node does not send the length of the body of a DELETE by itself.
          ...(payload === ""
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
          ...headers,
        },
      };
      const outgoing = request(`${base}${path}`, options, resolve);
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  return {
    async call(method, path, body, headers = {}) {
      const response = await open(method, path, body === undefined ? "" : JSON.stringify(body), headers);
      const text = Buffer.concat(await response.toArray()).toString();
      const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
      return { status: response.statusCode ?? 0, headers: response.headers, body: isJson ? JSON.parse(text) : text };
    },
    async *watch(path, signal) {
      try {
        const response = await open("GET", path, "", {}, signal);
        for await (const line of linesOf(response)) yield JSON.parse(line);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
