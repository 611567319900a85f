import {
  type FieldError,
  hiddenInvalidField,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength } from "../../../base/api/names.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable, sameValue } from "../shared-rules/immutable.ts";
import { pushUserAnnotationErrors } from "../shared-rules/metadata.ts";
import { isKubernetesSigner, validateSignerName } from "../shared-rules/signer-names.ts";
import { issuedErrors } from "./pod-certificate-chain.ts";
import { keyErrors } from "./pod-certificate-key.ts";
import { specOf, statusOf } from "./pod-certificate-types.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;
const MAX_UID = 128;
const FINAL_TYPES = ["Issued", "Denied", "Failed"];
const ONLY_V1BETA1 = ["pkixPublicKey", "proofOfPossession"];

const SPEC_SHAPE: GoShape = [
  ["SignerName", "signerName", ""],
  ["PodName", "podName", ""],
  ["PodUID", "podUID", ""],
  ["ServiceAccountName", "serviceAccountName", ""],
  ["ServiceAccountUID", "serviceAccountUID", ""],
  ["NodeName", "nodeName", ""],
  ["NodeUID", "nodeUID", ""],
  ["MaxExpirationSeconds", "maxExpirationSeconds"],
  ["PKIXPublicKey", "pkixPublicKey"],
  ["ProofOfPossession", "proofOfPossession"],
  ["StubPKCS10Request", "stubPKCS10Request"],
  ["UnverifiedUserAnnotations", "unverifiedUserAnnotations"],
];

function pushIdentityErrors(errors: FieldError[], kind: "pod" | "serviceAccount" | "node", name = "", uid = ""): void {
  pushInvalid(errors, `spec.${kind}Name`, name, subdomainName(name));
  if (uid === "") errors.push(invalidField(`spec.${kind}UID`, uid, "must not be empty"));
  if (byteLength(uid) > MAX_UID) errors.push(tooLongField(`spec.${kind}UID`, MAX_UID));
}

function specErrors(request: KubeObject): FieldError[] {
  const spec = specOf(request);
  const { signerName = "", maxExpirationSeconds: seconds } = spec;
  const errors = validateSignerName(signerName, "spec.signerName");
  pushUserAnnotationErrors(errors, "spec.unverifiedUserAnnotations", spec.unverifiedUserAnnotations);
  pushIdentityErrors(errors, "pod", spec.podName, spec.podUID);
  pushIdentityErrors(errors, "serviceAccount", spec.serviceAccountName, spec.serviceAccountUID);
  pushIdentityErrors(errors, "node", spec.nodeName, spec.nodeUID);
  if (seconds === undefined) return [...errors, requiredField("spec.maxExpirationSeconds", "must be set")];
  const longest = isKubernetesSigner(signerName) ? DAY : 91 * DAY;
  if (seconds < HOUR || seconds > longest) {
    errors.push(invalidField("spec.maxExpirationSeconds", seconds, `must be in the range [${HOUR}, ${longest}]`));
  }
  return [...errors, ...keyErrors(spec)];
}

/** Whether a PodCertificateRequest has one of these conditions with status True. */
function hasEnded(request: KubeObject, ...types: readonly string[]): boolean {
  const { conditions = [] } = statusOf(request);
  return conditions.some(({ type = "", status }) => types.includes(type) && status === "True");
}

function conditionErrors(request: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const { conditions = [] } = statusOf(request);
  let known = 0;
  for (const [index, { type = "", status = "" }] of conditions.entries()) {
    // Compat: kube-apiserver's path is `status.conditions.[0]`, with a dot before the bracket.
    const path = `status.conditions.[${index}]`;
    if (!FINAL_TYPES.includes(type)) {
      errors.push(notSupportedField(`${path}.type`, type, FINAL_TYPES));
      continue;
    }
    known += 1;
    const text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    if (known > 1) errors.push(invalidField(`${path}.type`, type, text));
    if (status !== "True") errors.push(notSupportedField(`${path}.status`, status, ["True"]));
  }
  return [...errors, ...validateConditions(conditions, "status.conditions")];
}

function statusErrors(next: KubeObject, previous: KubeObject, now: number): FieldError[] {
  const errors = conditionErrors(next);
  if (errors.length > 0) return errors;
  const wrong = (text: string) => [hiddenInvalidField("status", text)];
  const isSame = sameValue(next.status, previous.status);
  if (hasEnded(previous, ...FINAL_TYPES)) {
    return isSame ? [] : wrong("immutable after PodCertificateRequest is issued, denied, or failed");
  }
  if (hasEnded(next, "Denied", "Failed")) {
    const { conditions: _conditions, ...rest } = statusOf(next);
    const text = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
    return sameValue(rest, {}) ? [] : wrong(text);
  }
  if (hasEnded(next, "Issued")) return issuedErrors(specOf(previous), statusOf(next), now);
  return isSame ? [] : wrong('status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
}

/** PodCertificateRequest: a kubelet requests a certificate for a pod from a signer. */
export const podCertificateRequestHooks: ResourceHooks = {
  prepare(next, previous, { apiVersion }) {
    if (!previous || !apiVersion.endsWith("/v1")) return;
    // v1 cannot show these fields, so their absence means nothing.
    const [spec, before] = [specOf(next), specOf(previous)];
    for (const member of ONLY_V1BETA1) if (before[member] !== undefined) spec[member] ??= before[member];
  },
  validate(next, previous, { subresource, now }) {
    if (!previous) return specErrors(next);
    if (subresource === "status") return statusErrors(next, previous, now);
    return immutable(next.spec, previous.spec, "spec", (spec) => asGo(spec, SPEC_SHAPE));
  },
  convert(object, toApiVersion) {
    const converted = { ...object, apiVersion: toApiVersion };
    if (!toApiVersion.endsWith("/v1")) return converted;
    const { pkixPublicKey: _key, proofOfPossession: _proof, ...spec } = specOf(object);
    return { ...converted, spec };
  },
};
