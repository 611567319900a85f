import { Agent, request } from "node:https";
import type { Answer } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import type { CostlyRequest } from "./server.ts";

/** Sends requests to one server unchanged, byte for byte, and reads whole responses. */
export class RawClient {
  readonly #base: string;
  readonly #timeoutMs: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

  constructor(base: string, timeoutMs: number) {
    this.#base = base;
    this.#timeoutMs = timeoutMs;
  }

  /** The response, with its body decoded if it is JSON; status 0 if there was none in time. */
  send({ method, path, headers, body }: CostlyRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const failed = (error: Error) => resolve({ status: 0, headers: {}, body: { message: error.message } });
      const options = {
        method,
        agent: this.#agent,
        maxHeaderSize: 1024 * 1024,
        signal: AbortSignal.timeout(this.#timeoutMs),
        headers: {
          authorization: `Bearer ${tokens.admin}`,
          "user-agent": "binnacle-test",
          ...(body ? { "content-type": "application/json", "content-length": body.length } : {}),
          ...headers,
        },
      };
      const call = request(`${this.#base}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", failed);
        response.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: decoded(text) });
        });
      });
      call.once("error", failed);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}
