import type { Certificate } from "./certificate.ts";
import { CertificateError } from "./certificate.ts";

/** Whom we trust. */
export type Authorities = readonly Certificate[];

/** How many signatures are checked at most to find a chain. */
const MAX_SIGNATURE_CHECKS = 100;

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USAGE = "2.5.29.37.0";

/** Compat: the signatures that `checkSignature` of Go's crypto/x509 verifies; MD5, SHA-1 and DSA are none of them. */
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

/** A chain for which an authority vouches, and how long it does. */
export interface VerifiedChain {
  readonly certificates: readonly Certificate[];
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Finds a chain from a client's certificate to one of the authorities, by way of what the client sent besides, as Go's
 * `Certificate.Verify` does with `KeyUsages: [ExtKeyUsageClientAuth]`. Throws CertificateError with Go's text.
 */
export function verifyChain(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  authorities: Authorities,
  now: number,
): VerifiedChain {
  check(leaf, [], "leaf", now);
  const search: Search = { intermediates, authorities, now, checksLeft: MAX_SIGNATURE_CHECKS };
  const isTrusted = authorities.some(({ raw }) => raw.equals(leaf.raw));
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
  readonly authorities: Authorities;
  readonly now: number;
  checksLeft: number;
  /** Why the last authority that could have signed did not. */
  reason?: CertificateError;
}

/** All chains that lead from the last certificate of `chain` to an authority. */
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
  for (const candidate of search.authorities) consider(candidate, "root");
  for (const candidate of search.intermediates) consider(candidate, "intermediate");
  return found;
}

/** Compat: Go's `alreadyInChain`: the same name and key are enough, so that no certificate leads back to itself. */
function isInChain(chain: readonly Certificate[], { subject, publicKey }: Certificate): boolean {
  return chain.some((known) => known.subject.equals(subject) && known.publicKey.equals(publicKey));
}

function checkSignature(child: Certificate, parent: Certificate): void {
  const { basicConstraints: constraints, version, maySign, publicKey } = parent;
  if ((version === 3 && constraints === undefined) || constraints?.isAuthority === false || maySign === false) {
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

/** Compat: Go's `Certificate.isValid`. `chain` leads to the certificate, which is no part of it yet. */
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
  // What cannot be compared is not valid either.
  if (!(now >= notBefore)) throw expired("before", notBefore);
  if (!(now <= notAfter)) throw expired("after", notAfter);
  if (type === "intermediate" && !constraints?.isAuthority) {
    throw new CertificateError("x509: certificate is not authorized to sign other certificates");
  }
  const between = chain.length - 1;
  const longest = constraints?.isAuthority ? constraints.maxPathLength : undefined;
  if (longest !== undefined && between > longest)
    throw new CertificateError("x509: too many intermediates for path length constraint");
  // Names are judged nowhere else, so that an authority for some names only vouches for nobody who has one.
  if (certificate.hasNameConstraints && chain[0]?.hasAlternativeNames) {
    throw new CertificateError("x509: issuer has name constraints, which are not supported for alternative names");
  }
}

/** As Go prints a time. */
function print(ms: number): string {
  return Number.isNaN(ms) ? "unknown" : new Date(ms).toISOString().replace(".000Z", "Z");
}

/** Compat: Go's `checkChainForKeyUsage`: each certificate of the chain allows client authentication, or says nothing. */
function isForClients(chain: readonly Certificate[]): boolean {
  return chain.every(
    ({ extendedKeyUsages: usages }) =>
      usages === undefined || usages.length === 0 || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE),
  );
}
