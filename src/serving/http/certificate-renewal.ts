import { isWholeIdentity } from "../../base/pki/certificates.ts";
import type { Clock, Timer } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";
import type { TlsOptions } from "./listener.ts";

/** A serving certificate and its key, both in PEM. */
export type ServingPair = Pick<TlsOptions, "certificate" | "key">;

/** Returns the certificate and key to serve with at `nowMs` (ms since the epoch). Rejects if they are unavailable. */
export type RefreshServing = (nowMs: number) => Promise<ServingPair>;

/** Options of `renewCertificate`. */
export interface RenewalOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The pair in use at the start. */
  readonly current: ServingPair;
  readonly refresh: RefreshServing;
  /** Uses another pair for new connections. */
  readonly apply: (pair: ServingPair) => void;
}

/** Polling interval. Differs: DynamicCertKeyPairContent watches the files and also polls once a minute. */
const LOOK_EVERY_MS = 10_000;

/**
 * Polls for a new serving certificate and applies it without a restart. Compat: `--tls-cert-file`; like kube-apiserver,
 * keeps the current certificate while the files are missing or do not match, for example between the two writes of a
 * replacement.
 */
export function renewCertificate({ clock, log, current, refresh, apply }: RenewalOptions): Timer {
  let served = current;
  let isLooking = false;
  const look = async (): Promise<void> => {
    try {
      const { certificate, key } = await refresh(clock.now());
      if (certificate === served.certificate && key === served.key) return;
      if (!isWholeIdentity({ certificate, key })) throw new Error("the key does not match the certificate");
      apply({ certificate, key });
      served = { certificate, key };
      log.info("serving certificate renewed for new connections");
    } catch (error) {
      log.warn("renewing the serving certificate failed, keeping the current one", { err: error });
    }
  };
  const lookOnce = (): void => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  };
  return clock.setInterval(LOOK_EVERY_MS, lookOnce).unref();
}
