import {
  type FieldError,
  hiddenInvalidField,
  invalidField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import { pemBlocks } from "../../../base/pki/pem.ts";
import { type CertificateFacts, readCertificate } from "../../../base/pki/x509-read.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { requestedKey } from "./pod-certificate-key.ts";
import type { PodCertificateSpec, PodCertificateStatus } from "./pod-certificate-types.ts";

const CHAIN = "status.certificateChain";
const MAX_BYTES = 100 * 1024;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EMAIL = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;

/** Validates `status.certificateChain` of an issued PodCertificateRequest. Stops at the first error. */
export function issuedErrors(spec: PodCertificateSpec, status: PodCertificateStatus, now: number): FieldError[] {
  const { certificateChain: chain = "" } = status;
  const wrong = (text: string) => [invalidField(CHAIN, chain, text)];
  if (byteLength(chain) > MAX_BYTES) return [tooLongField(CHAIN, MAX_BYTES)];
  const [first, ...others] = pemBlocks(chain);
  if (!first) return wrong("issued certificate chain must contain at least one certificate");
  if (first.type !== "CERTIFICATE") {
    return wrong("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
  }
  const leaf = readCertificate(first.bytes);
  if (!leaf) return wrong("leaf certificate does not parse as valid X.509");
  const errors = leafNameErrors(leaf);
  const key = requestedKey(spec);
  if (!key) {
    const [field, what] = spec.stubPKCS10Request
      ? ["spec.stubPKCS10Request", "PKCS#10 CSR"]
      : ["spec.pkixPublicKey", "PKIX-serialized public key"];
    return [...errors, hiddenInvalidField(field, `must be a valid ${what}`)];
  }
  if (!key.equals(leaf.publicKey)) {
    return [...errors, ...wrong("leaf certificate was not issued to the requested public key")];
  }
  addAll(errors, missingTimeErrors(status));
  if (errors.length > 0) return errors;
  const timeErrors = leafTimeErrors(leaf, spec, status, now);
  if (timeErrors.length > 0) return timeErrors;
  for (const { type, bytes } of others) {
    // Compat: "CERTFICATE" is misspelled in upstream's `ValidatePodCertificateRequestStatusUpdate` too.
    if (type !== "CERTIFICATE") return wrong("issued certificate chain must consist entirely of CERTFICATE PEM blocks");
    if (!readCertificate(bytes)) return wrong("intermediate certificate does not parse as valid X.509");
  }
  return [];
}

function leafNameErrors({ dnsNames, emailAddresses }: CertificateFacts): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of dnsNames) {
    if (name === "") errors.push(invalidField(CHAIN, name, "leaf certificate should not contain empty DNSName"));
    if (name.includes(".."))
      errors.push(invalidField(CHAIN, name, "leaf certificate's DNSName should not contain '..'"));
    if (/^\.|\.$/.test(name)) {
      errors.push(invalidField(CHAIN, name, "leaf certificate's DNSName should not start or end with '.'"));
    }
  }
  const wrong = emailAddresses.filter((address) => !EMAIL.test(address));
  const text = "leaf certificate should not contain invalid EmailAddress";
  return [...errors, ...wrong.map((address) => invalidField(CHAIN, address, text))];
}

const TIMES = {
  notBefore: "must be present and consistent with the issued certificate",
  notAfter: "must be present and consistent with the issued certificate",
  beginRefreshAt: "must be present and in the range [notbefore+10min, notafter-10min]",
} as const;

function missingTimeErrors(status: PodCertificateStatus): FieldError[] {
  return Object.entries(TIMES).flatMap(([member, text]) =>
    status[member] ? [] : [requiredField(`status.${member}`, text)],
  );
}

/**
 * The first rule about `notBefore`, `notAfter` and `beginRefreshAt` that the leaf certificate violates, with the value
 * that the error shows.
 */
function leafTimeErrors(
  { notBefore, notAfter }: CertificateFacts,
  { maxExpirationSeconds: longest = 0 }: PodCertificateSpec,
  status: PodCertificateStatus,
  now: number,
): FieldError[] {
  const given = (member: keyof typeof TIMES) => Date.parse(status[member] ?? "");
  const about = (member: keyof typeof TIMES, text: string) => [invalidField(`status.${member}`, status[member], text)];
  if (given("notBefore") !== notBefore) {
    return about("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
  }
  if (Math.abs(notBefore - now) >= 5 * MINUTE) {
    return about("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
  }
  if (given("notAfter") !== notAfter) {
    return about("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
  }
  const lifetime = notAfter - notBefore;
  // Compat: the value shown by "leaf certificate lifetime must be" is a Go `time.Duration`, in nanoseconds.
  const ofLifetime = (text: string) => [
    invalidField(CHAIN, lifetime * 1_000_000, `leaf certificate lifetime must be ${text}`),
  ];
  if (lifetime < HOUR) return ofLifetime(">= 1 hour");
  if (lifetime > longest * 1000) return ofLifetime(`<= spec.maxExpirationSeconds (${longest})`);
  if (given("beginRefreshAt") < notBefore + 10 * MINUTE) {
    return about("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
  }
  if (given("beginRefreshAt") > notAfter - 10 * MINUTE) {
    return about("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
  }
  return [];
}
