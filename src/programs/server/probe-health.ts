import { HttpClient } from "../../base/net/http-client.ts";
import { transportError } from "../../base/net/transport-error.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { ProbeHealth } from "../../kinds/built-in/actions/component-status.ts";

const LIMITS = { timeoutMs: 5000, maxBytes: 64 * 1024 };

/**
 * Returns a probe of `/healthz` of local components. TLS is not verified because their certificates are self-signed.
 */
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
