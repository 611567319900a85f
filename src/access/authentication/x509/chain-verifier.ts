import type { X509Certificate } from "node:crypto";
import type { Clock } from "../../../base/util/clock.ts";
import { AuthenticationError } from "../authenticator.ts";
import { type Certificate, CertificateError, readCertificate } from "./certificate.ts";
import { type CACertificates, verifyChain } from "./verify-chain.ts";

/** The current CA certificates. `current` is a new array after every change. */
export interface TrustedCAs {
  readonly current: CACertificates;
}

interface Verdict<Result> {
  readonly roots: CACertificates;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Undefined if the chain was rejected; see `refusal`. */
  readonly result: Result | undefined;
  readonly refusal: AuthenticationError | undefined;
}

/**
 * Verifies client certificate chains. All requests of a connection share one array of certificates, so the verdict is
 * cached per array. It is recomputed only if the CAs have changed or a certificate has expired.
 */
export class ChainVerifier<Result> {
  readonly #roots: TrustedCAs;
  readonly #clock: Pick<Clock, "now">;
  readonly #read: (chain: readonly Certificate[]) => Result;
  readonly #verdicts = new WeakMap<readonly X509Certificate[], Verdict<Result>>();

  /** `read` extracts the result from a verified chain. It may throw CertificateError. */
  constructor(roots: TrustedCAs, clock: Pick<Clock, "now">, read: (chain: readonly Certificate[]) => Result) {
    this.#roots = roots;
    this.#clock = clock;
    this.#read = read;
  }

  /** Returns what `read` extracted from the chain. Throws AuthenticationError if the chain is not trusted. */
  verify(chain: readonly X509Certificate[]): Result | undefined {
    const now = this.#clock.now();
    const roots = this.#roots.current;
    let verdict = this.#verdicts.get(chain);
    const isFresh =
      verdict !== undefined && verdict.roots === roots && now >= verdict.notBefore && now <= verdict.notAfter;
    if (verdict === undefined || !isFresh) {
      verdict = this.#judge(chain, roots, now);
      this.#verdicts.set(chain, verdict);
    }
    if (verdict.refusal) throw verdict.refusal;
    return verdict.result;
  }

  #judge(chain: readonly X509Certificate[], roots: CACertificates, now: number): Verdict<Result> {
    let read: readonly Certificate[] = [];
    try {
      read = chain.map(readCertificate);
      const [first, ...others] = read;
      if (first === undefined) throw new CertificateError("x509: no certificate");
      const { certificates, notBefore, notAfter } = verifyChain(first, others, roots, now);
      return { roots, notBefore, notAfter, result: this.#read(certificates), refusal: undefined };
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      const [leaf] = read;
      const text = `verifying certificate ${leaf ? identify(leaf) : ""} failed: ${error.message}`;
      const span = steadySpan([...read, ...roots], now);
      return { roots, ...span, result: undefined, refusal: new AuthenticationError(text) };
    }
  }
}

/**
 * How long a rejection is cached. While all certificates are valid, the reason does not depend on the time: for
 * example, `--requestheader-client-ca-file` rejects every client of `--client-ca-file`. Otherwise the message contains
 * the current time, so it is not cached.
 */
function steadySpan(certificates: readonly Certificate[], now: number): { notBefore: number; notAfter: number } {
  let notBefore = Number.NEGATIVE_INFINITY;
  let notAfter = Number.POSITIVE_INFINITY;
  for (const certificate of certificates) {
    notBefore = Math.max(notBefore, certificate.notBefore);
    notAfter = Math.min(notAfter, certificate.notAfter);
  }
  return now >= notBefore && now <= notAfter ? { notBefore, notAfter } : { notBefore: now, notAfter: now };
}

/** Compat: `certificateIdentifier`. */
function identify({ serialNumber, subjectKeyId, authorityKeyId }: Certificate): string {
  return `SN=${serialNumber}, SKID=${printId(subjectKeyId)}, AKID=${printId(authorityKeyId)}`;
}

function printId(bytes: Buffer): string {
  return (bytes.toString("hex").toUpperCase().match(/../g) ?? []).join(":");
}
