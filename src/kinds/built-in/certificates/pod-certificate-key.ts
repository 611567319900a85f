import { constants, type KeyObject, verify } from "node:crypto";
import { type FieldError, hiddenInvalidField, invalidField, tooLongField } from "../../../base/api/field-error.ts";
import { DerError } from "../../../base/pki/der-read.ts";
import { parseSigningRequest, readPublicKey, type SigningRequest, signatureProblem } from "../../../base/pki/pkcs10.ts";
import { getMember } from "../../../base/util/members.ts";
import type { PodCertificateSpec } from "./pod-certificate-types.ts";

const REQUEST = "spec.stubPKCS10Request";
const KEY = "spec.pkixPublicKey";
const PROOF = "spec.proofOfPossession";
const MAX_BYTES = 10 * 1024;
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];
const RSA_BITS = [3072, 4096];
const UNKNOWN_TYPE = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";

const bytesOf = (encoded: string | null | undefined): Buffer => Buffer.from(encoded ?? "", "base64");

function parseRequest(encoded: string | null | undefined): SigningRequest | undefined {
  try {
    return parseSigningRequest(bytesOf(encoded));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** Validates the key of a PodCertificateRequest: `stubPKCS10Request`, or `pkixPublicKey` with `proofOfPossession`. */
export function keyErrors(spec: PodCertificateSpec): FieldError[] {
  const [request, key, proof] = [
    bytesOf(spec.stubPKCS10Request),
    bytesOf(spec.pkixPublicKey),
    bytesOf(spec.proofOfPossession),
  ];
  const given = [request, key, proof].map(({ length }) => length > 0).join();
  if (given === "true,false,false") return requestErrors(spec, request);
  if (given === "false,true,true") return plainKeyErrors(spec, key, proof);
  const text = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
  return [hiddenInvalidField("spec", text)];
}

function requestErrors({ stubPKCS10Request }: PodCertificateSpec, bytes: Buffer): FieldError[] {
  if (bytes.length > MAX_BYTES) return [tooLongField(REQUEST, MAX_BYTES)];
  const request = parseRequest(stubPKCS10Request);
  if (!request) return [hiddenInvalidField(REQUEST, "must be a valid PKCS#10 CSR")];
  if (!request.publicKey) return [hiddenInvalidField(REQUEST, UNKNOWN_TYPE)];
  const errors = strengthErrors(request.publicKey, REQUEST, "P256, P384, or P521");
  if (errors.length > 0 || signatureProblem(request) === undefined) return errors;
  return [hiddenInvalidField(REQUEST, "invalid signature")];
}

function plainKeyErrors(spec: PodCertificateSpec, bytes: Buffer, proof: Buffer): FieldError[] {
  if (bytes.length > MAX_BYTES) return [tooLongField(KEY, MAX_BYTES)];
  if (proof.length > MAX_BYTES) return [tooLongField(PROOF, MAX_BYTES)];
  const key = readPublicKey(bytes);
  if (!key) return [invalidField(KEY, spec.pkixPublicKey, "must be a valid PKIX-serialized public key")];
  const errors = strengthErrors(key, KEY, "P256 or P384");
  if (errors.length > 0) return errors;
  const type = key.asymmetricKeyType ?? "";
  if (!["rsa", "ec", "ed25519"].includes(type)) return [invalidField(KEY, spec.pkixPublicKey, UNKNOWN_TYPE)];
  if (provesPossession(key, spec.podUID ?? "", proof)) return [];
  return [hiddenInvalidField(PROOF, "could not verify proof-of-possession signature")];
}

/** Whether `proofOfPossession` is the key's signature of the pod's UID. */
function provesPossession(key: KeyObject, podUID: string, proof: Buffer): boolean {
  const isRsa = key.asymmetricKeyType === "rsa";
  const padding = isRsa ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO } : {};
  const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  return verify(digest, Buffer.from(podUID), { key, ...padding }, proof);
}

const CURVE_NAMES: Readonly<Record<string, string>> = { secp224r1: "P-224" };

function strengthErrors(key: KeyObject, path: string, curves: string): FieldError[] {
  const { namedCurve = "", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "ec" && !CURVES.includes(namedCurve)) {
    const shown = `curve ${getMember(CURVE_NAMES, namedCurve) ?? namedCurve}`;
    return [invalidField(path, shown, `elliptic public keys must use curve ${curves}`)];
  }
  if (key.asymmetricKeyType === "rsa" && !RSA_BITS.includes(modulusLength)) {
    return [invalidField(path, `${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096")];
  }
  return [];
}

/** The public key of a PodCertificateRequest; undefined if it can no longer be read. */
export function requestedKey(spec: PodCertificateSpec): KeyObject | undefined {
  if (spec.stubPKCS10Request) return parseRequest(spec.stubPKCS10Request)?.publicKey;
  return readPublicKey(bytesOf(spec.pkixPublicKey));
}
