import { isWholeIdentity } from "../http/certificates.ts";
import type { TlsOptions } from "../http/listener.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/environment.ts";

/** A certificate with its key, both in PEM. */
export type ServingPair = Pick<TlsOptions, "certificate" | "key">;

/** Gives the pair to serve with at a time, in milliseconds since the epoch. Rejects while there is none. */
export type RefreshServing = (nowMs: number) => Promise<ServingPair>;

/** What is kept fresh, and how. */
export interface RenewalOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What is served now. */
  readonly current: ServingPair;
  readonly refresh: RefreshServing;
  /** Serves new connections with another pair. */
  readonly apply: (pair: ServingPair) => void;
}

/**
 * How soon a change is noticed. Compat: DynamicCertKeyPairContent hears of changed files from the system and looks once a
 * minute besides.
 */
const LOOK_EVERY_MS = 10_000;

/**
 * Serves with another certificate as soon as there is one, without a restart. Compat: `--tls-cert-file`; kube-apiserver goes on with the one it
 * has while the files are missing or do not fit each other, as between the two writes of whoever replaces them.
 */
export function renewCertificate({ clock, log, current, refresh, apply }: RenewalOptions): Timer {
  let served = current;
  let isLooking = false;
  const look = async (): Promise<void> => {
    try {
      const { certificate, key } = await refresh(clock.now());
      if (certificate === served.certificate && key === served.key) return;
      if (!isWholeIdentity({ certificate, key })) throw new Error("the key does not belong to the certificate");
      apply({ certificate, key });
      served = { certificate, key };
      log.info("new connections get another serving certificate");
    } catch (error) {
      log.warn("the serving certificate could not be renewed", { err: error });
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
