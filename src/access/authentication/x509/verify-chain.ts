import type { Certificate } from "./certificate.ts";
import { CertificateError } from "./certificate.ts";

/** Trusted CA certificates. */
export type CACertificates = readonly Certificate[];

/** Maximum number of signature checks while searching for a chain. */
const MAX_SIGNATURE_CHECKS = 100;

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";

/**
 * Compat: the signature algorithms that `checkSignature` of Go's crypto/x509 verifies. MD5, SHA-1 and DSA are not
 * supported.
 */
const SIGNATURES: ReadonlySet<string> = new Set([
  "1.2.840.113549.1.1.10",
  "1.2.840.113549.1.1.11",
  "1.2.840.113549.1.1.12",
  "1.2.840.113549.1.1.13",
  "1.2.840.10045.4.3.2",
  "1.2.840.10045.4.3.3",
  "1.2.840.10045.4.3.4",
  "1.3.101.112",
]);

/** A chain that ends at a trusted CA, and its validity period. */
export interface VerifiedChain {
  readonly certificates: readonly Certificate[];
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Finds a chain from a client certificate through the intermediates that the client sent to a trusted CA. Compat: like
 * Go's `Certificate.Verify` with `KeyUsages: [ExtKeyUsageClientAuth]`. Throws CertificateError with Go's message.
 */
export function verifyChain(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  roots: CACertificates,
  now: number,
): VerifiedChain {
  check(leaf, [], "leaf", now);
  const search: Search = { intermediates, roots, now, checksLeft: MAX_SIGNATURE_CHECKS };
  const isTrusted = roots.some(({ raw }) => raw.equals(leaf.raw));
  const chains = isTrusted ? [[leaf]] : chainsFrom([leaf], leaf, search);
  if (chains.length === 0) {
    throw search.reason ?? new CertificateError("x509: certificate signed by unknown authority");
  }
  const fitting = chains.find(isForClients);
  if (fitting === undefined) {
    throw new CertificateError("x509: certificate specifies an incompatible key usage");
  }
  return {
    certificates: fitting,
    notBefore: Math.max(...fitting.map(({ notBefore }) => notBefore)),
    notAfter: Math.min(...fitting.map(({ notAfter }) => notAfter)),
  };
}

interface Search {
  readonly intermediates: readonly Certificate[];
  readonly roots: CACertificates;
  readonly now: number;
  checksLeft: number;
  /** Why the first candidate that could have signed did not. */
  reason?: CertificateError;
}

/** All chains that lead from the last certificate of `chain` to a trusted CA. */
function chainsFrom(chain: readonly Certificate[], last: Certificate, search: Search): Certificate[][] {
  const found: Certificate[][] = [];
  const consider = (candidate: Certificate, type: "root" | "intermediate"): void => {
    if (!candidate.subject.equals(last.issuer) || isInChain(chain, candidate)) return;
    if (search.checksLeft-- <= 0) {
      throw new CertificateError("x509: signature check attempts limit reached while verifying certificate chain");
    }
    try {
      checkSignature(last, candidate);
      check(candidate, chain, type, search.now);
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      search.reason ??= new CertificateError(
        `x509: certificate signed by unknown authority (possibly because of ${JSON.stringify(error.message)})`,
      );
      return;
    }
    if (type === "root") found.push([...chain, candidate]);
    else for (const longer of chainsFrom([...chain, candidate], candidate, search)) found.push(longer);
  };
  for (const candidate of search.roots) consider(candidate, "root");
  for (const candidate of search.intermediates) consider(candidate, "intermediate");
  return found;
}

/** Compat: Go's `alreadyInChain`. Comparing name and key is enough to prevent cycles. */
function isInChain(chain: readonly Certificate[], { subject, publicKey }: Certificate): boolean {
  return chain.some((known) => known.subject.equals(subject) && known.publicKey.equals(publicKey));
}

function checkSignature(child: Certificate, parent: Certificate): void {
  const { basicConstraints: constraints, version, maySign, publicKey } = parent;
  if ((version === 3 && constraints === undefined) || constraints?.isCA === false || maySign === false) {
    throw new CertificateError("x509: invalid signature: parent certificate cannot sign this kind of certificate");
  }
  if (!SIGNATURES.has(child.signatureAlgorithm)) {
    throw new CertificateError("x509: cannot verify signature: insecure or unsupported algorithm");
  }
  const { modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < 1024) {
    throw new CertificateError(`crypto/rsa: ${modulusLength}-bit keys are insecure`);
  }
  if (!child.isSignedBy(publicKey)) throw new CertificateError("x509: invalid signature");
}

/** Compat: Go's `Certificate.isValid`. `chain` leads to the certificate, but does not contain it yet. */
function check(
  certificate: Certificate,
  chain: readonly Certificate[],
  type: "leaf" | "intermediate" | "root",
  now: number,
): void {
  const { notBefore, notAfter, basicConstraints: constraints } = certificate;
  if (certificate.hasUnknownCritical) throw new CertificateError("x509: unhandled critical extension");
  const expired = (how: string, limit: number): CertificateError =>
    new CertificateError(
      `x509: certificate has expired or is not yet valid: current time ${print(now)} is ${how} ${print(limit)}`,
    );
  // Negated, so that an invalid date (NaN) is rejected, too.
  if (!(now >= notBefore)) throw expired("before", notBefore);
  if (!(now <= notAfter)) throw expired("after", notAfter);
  if (type === "intermediate" && !constraints?.isCA) {
    throw new CertificateError("x509: certificate is not authorized to sign other certificates");
  }
  const between = chain.length - 1;
  const longest = constraints?.isCA ? constraints.maxPathLength : undefined;
  if (longest !== undefined && between > longest)
    throw new CertificateError("x509: too many intermediates for path length constraint");
  // Name constraints are not evaluated, so a CA that has them is rejected for certificates with alternative names.
  if (certificate.hasNameConstraints && chain[0]?.hasAlternativeNames) {
    throw new CertificateError("x509: issuer has name constraints, which are not supported for alternative names");
  }
}

/** Formats a time like Go. */
function print(ms: number): string {
  return Number.isNaN(ms) ? "unknown" : new Date(ms).toISOString().replace(".000Z", "Z");
}

/**
 * Compat: Go's `checkChainForKeyUsage`: each certificate of the chain permits client authentication or has no extended
 * key usage.
 */
function isForClients(chain: readonly Certificate[]): boolean {
  return chain.every(
    ({ extendedKeyUsages: usages }) =>
      usages === undefined || usages.length === 0 || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE),
  );
}
