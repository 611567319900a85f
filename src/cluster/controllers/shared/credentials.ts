import type { JsonObject } from "../../../base/api/object.ts";
import type { Identity } from "../../../base/pki/make-certificate.ts";
import type { Eventually } from "../../../base/util/eventually.ts";

/** The keys and certificates with which controllers issue credentials to the programs of a cluster. */
export interface Credentials {
  /** The CA bundle that verifies this server, in PEM. Empty if the server has no certificate. */
  readonly rootCa: string;
  /** Signs a service account token with these claims. */
  signToken(claims: JsonObject): Eventually<string>;
  /** Signs certificates. Absent: CertificateSigningRequests get no certificate. */
  readonly certificates?: CertificateSigning;
}

/** How CertificateSigningRequests are signed. */
export interface CertificateSigning {
  readonly authority: Identity;
  /** `--cluster-signing-duration`: the longest lifetime of a certificate. */
  readonly maxLifetimeMs: number;
}
