import type { X509Certificate } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { AuthenticationError } from "../authenticator.ts";
import { type Certificate, CertificateError, readCertificate } from "./certificate.ts";
import { type Authorities, verifyChain } from "./verify-chain.ts";

/** Those who vouch for certificates, as they are now: another array when they have changed. */
export interface TrustedAuthorities {
  readonly current: Authorities;
}

interface Verdict<Result> {
  readonly authorities: Authorities;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Throws when the chain was refused. */
  readonly result: Result | undefined;
  readonly refusal: AuthenticationError | undefined;
}

/**
 * Judges the certificates that clients show. All requests of a connection have the same array of certificates: signatures
 * are checked again only when the authorities have changed or a certificate has expired meanwhile.
 */
export class ChainVerifier<Result> {
  readonly #authorities: TrustedAuthorities;
  readonly #clock: Pick<Clock, "now">;
  readonly #read: (chain: readonly Certificate[]) => Result;
  readonly #verdicts = new WeakMap<readonly X509Certificate[], Verdict<Result>>();

  /** `read` makes what is wanted of a chain that is good; it may throw CertificateError. */
  constructor(
    authorities: TrustedAuthorities,
    clock: Pick<Clock, "now">,
    read: (chain: readonly Certificate[]) => Result,
  ) {
    this.#authorities = authorities;
    this.#clock = clock;
    this.#read = read;
  }

  /** What was read of a good chain. Throws AuthenticationError when nobody vouches for it. */
  verify(chain: readonly X509Certificate[]): Result | undefined {
    const now = this.#clock.now();
    const authorities = this.#authorities.current;
    let verdict = this.#verdicts.get(chain);
    const isFresh =
      verdict !== undefined &&
      verdict.authorities === authorities &&
      now >= verdict.notBefore &&
      now <= verdict.notAfter;
    if (verdict === undefined || !isFresh) {
      verdict = this.#judge(chain, authorities, now);
      this.#verdicts.set(chain, verdict);
    }
    if (verdict.refusal) throw verdict.refusal;
    return verdict.result;
  }

  #judge(chain: readonly X509Certificate[], authorities: Authorities, now: number): Verdict<Result> {
    let read: readonly Certificate[] = [];
    try {
      read = chain.map(readCertificate);
      const [first, ...others] = read;
      if (first === undefined) throw new CertificateError("x509: no certificate");
      const { certificates, notBefore, notAfter } = verifyChain(first, others, authorities, now);
      return { authorities, notBefore, notAfter, result: this.#read(certificates), refusal: undefined };
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      const [leaf] = read;
      const text = `verifying certificate ${leaf ? identify(leaf) : ""} failed: ${error.message}`;
      const span = steadySpan([...read, ...authorities], now);
      return { authorities, ...span, result: undefined, refusal: new AuthenticationError(text) };
    }
  }
}

/**
 * How long a refusal stays as it is. While all certificates are valid it has nothing to do with the time: every request of a
 * client of `--client-ca-file` is refused so by `--requestheader-client-ca-file`. Else it may name the time, and be none in a second.
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
