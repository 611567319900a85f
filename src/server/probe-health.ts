import type { ProbeHealth } from "../actions/component-status.ts";
import { HttpClient } from "../client/http-client.ts";
import { transportError } from "../client/transport-error.ts";
import type { Clock } from "../lib/clock.ts";

const LIMITS = { timeoutMs: 5000, maxBytes: 64 * 1024 };

/** Asks components of this machine for `/healthz`. Their certificates are self-signed, so they are not verified. */
export function healthProbe(clock: Pick<Clock, "setTimer">): ProbeHealth {
  const client = new HttpClient({ clock });
  return async (port) => {
    const url = `https://127.0.0.1:${port}/healthz`;
    try {
      const { status, body } = await client.send(new URL(url), { ...LIMITS, tls: { rejectUnauthorized: false } });
      return { isHealthy: status === 200, message: body.toString() };
    } catch (error) {
      return { isHealthy: false, message: `Get "${url}": ${transportError(error)}` };
    }
  };
}
