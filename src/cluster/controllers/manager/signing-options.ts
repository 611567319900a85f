import { option } from "../../../base/options/option.ts";
import { duration, file } from "../../../base/options/value-types.ts";

/** Options about the certificates that controllers sign. */
export const signingOptions = {
  clusterSigningCertFile: option(
    "cluster-signing-cert-file",
    file("certificates"),
    "CA that signs CertificateSigningRequests; by default the CA in --cert-dir, unless --client-ca-file is set",
  ),
  clusterSigningKeyFile: option("cluster-signing-key-file", file("a private key"), "private key of that CA"),
  clusterSigningMs: option(
    "cluster-signing-duration",
    duration,
    "longest lifetime of certificates for CertificateSigningRequests",
    { default: 365 * 86_400_000 },
  ),
};
