import type { Health } from "../actions/component-status.ts";

const TIMEOUT_MS = 5000;
const HOST = "127.0.0.1";

/** Asks a component for `/healthz`. Its certificate is self-signed, so it is not verified. */
export async function probeHealth(port: number): Promise<Health> {
  // Imported when somebody asks for ComponentStatus: see `listen` about what node:http costs a start.
  const { request } = await import("node:https");
  const url = `https://${HOST}:${port}/healthz`;
  const { promise, resolve } = Promise.withResolvers<Health>();
  const call = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS }, (response) => {
    let message = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      message += text;
    });
    response.on("end", () => resolve({ isHealthy: response.statusCode === 200, message }));
  });
  call.on("timeout", () => call.destroy(new Error("context deadline exceeded")));
  call.on("error", (error: NodeJS.ErrnoException) => {
    const refused = `dial tcp ${HOST}:${port}: connect: connection refused`;
    const reason = error.code === "ECONNREFUSED" ? refused : error.message;
    resolve({ isHealthy: false, message: `Get "${url}": ${reason}` });
  });
  call.end();
  return promise;
}
