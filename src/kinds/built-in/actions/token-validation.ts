import { type FieldError, invalidField, notSupportedField } from "../../../base/api/field-error.ts";
import { dns1123Subdomain } from "../../../base/api/names.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { type BoundObjectReference, isWebhookReference } from "./token-binding.ts";

/** The spec of a TokenRequest, as sent. */
export interface TokenRequestSpec extends JsonObject {
  audiences?: string[] | null;
  expirationSeconds?: number;
  boundObjectRef?: BoundObjectReference | null;
  attestations?: Attestations;
}

/** The spec with all defaults. */
export interface CompleteSpec extends TokenRequestSpec {
  audiences: string[];
  expirationSeconds: number;
}

interface Attestations extends JsonObject {
  [name: string]: string[];
}

const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;
const ATTESTATION = "admissionReviewAPIGroups";

/** Upstream's `ValidateTokenRequest`. */
export function validateTokenRequest(spec: CompleteSpec): FieldError[] {
  const { audiences, boundObjectRef, attestations = {} } = spec;
  const errors = expirationErrors(spec);
  if (boundObjectRef && isWebhookReference(boundObjectRef)) {
    if (audiences.length !== 1) {
      errors.push(invalidField("spec.audiences", audiences, "must be length 1 when bound to a webhook config"));
    }
    return [...errors, ...attestationErrors(spec.attestations)];
  }
  if (Object.keys(attestations).length === 0) return errors;
  const detail = "attestations may only be specified with a webhook bound object reference";
  return [invalidField("spec.attestations", attestations, detail)];
}

function expirationErrors({ expirationSeconds }: CompleteSpec): FieldError[] {
  const refuse = (detail: string) => [invalidField("spec.expirationSeconds", expirationSeconds, detail)];
  if (expirationSeconds < MIN_EXPIRATION_SECONDS) return refuse("may not specify a duration less than 10 minutes");
  if (expirationSeconds > MAX_EXPIRATION_SECONDS) return refuse("may not specify a duration larger than 2^32 seconds");
  return [];
}

function attestationErrors(attestations: Attestations | undefined): FieldError[] {
  const entries = Object.entries(attestations ?? {});
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) {
    const detail = "webhook bound requests require exactly one admissionReviewAPIGroups attestation";
    return [invalidField("spec.attestations", attestations, detail)];
  }
  const [name, values] = entry;
  const field = `spec.attestations[${name}]`;
  if (name !== ATTESTATION) return [notSupportedField(field, name, [ATTESTATION])];
  if (values.length !== 1) return [invalidField(field, values, "must specify a single value")];
  return groupErrors(values[0] ?? "", `${field}[0]`);
}

function groupErrors(group: string, field: string): FieldError[] {
  if (group === "") return [invalidField(field, group, "may not be an empty string")];
  if (group === "*") return [];
  return dns1123Subdomain(group).map((reason) =>
    invalidField(field, group, `must specify a valid API Group: ${reason}`),
  );
}
