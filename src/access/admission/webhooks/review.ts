import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { decodeBySchema } from "../../../data/schema/decode.ts";
import { typeMetaError } from "../../../data/schema/decode-type-meta.ts";
import type { Schema } from "../../../data/schema/schema.ts";
import { describeRequest } from "../expressions/request-variable.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { VersionedObjects } from "../versioned.ts";
import { reviewSchema } from "./review-schema.ts";

/** A version of AdmissionReview. */
export type ReviewVersion = "v1" | "v1beta1";

const GROUP = "admission.k8s.io";
const KIND = "AdmissionReview";
/** Compat: a `runtime.Scheme` is named after the source line that created it. */
const SCHEME = "pkg/runtime/scheme.go:110";
const SCHEMAS: Readonly<Record<ReviewVersion, Schema>> = { v1: reviewSchema("v1"), v1beta1: reviewSchema("v1beta1") };

/** The first supported version of a webhook's `admissionReviewVersions`. */
export function reviewVersion(versions: readonly string[] = []): ReviewVersion | undefined {
  return versions.find((version) => version === "v1" || version === "v1beta1");
}

/** Creates the AdmissionReview for a request. Upstream: `CreateV1AdmissionReview`. */
export function writeReview(
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  matched: MatchedResource,
  { object, previous }: VersionedObjects,
): string {
  const described = describeRequest(request, matched);
  const review = {
    kind: KIND,
    apiVersion: `${GROUP}/${version}`,
    request: {
      uid,
      ...described,
      object: object ?? null,
      oldObject: previous ?? null,
      dryRun: request.dryRun,
      options: request.options() ?? null,
    },
  };
  return JSON.stringify(review);
}

/** A valid response of a webhook. */
export interface ReviewResponse {
  readonly isAllowed: boolean;
  /** Status of a denial. */
  readonly status: JsonObject | undefined;
  /** The bytes of a JSON patch. */
  readonly patch: Buffer | undefined;
  readonly patchType: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** The response is invalid. */
export class BadReview extends Error {
  /** Whether it is not an AdmissionReview at all. */
  readonly isUndecodable: boolean;

  constructor(message: string, isUndecodable = false) {
    super(message);
    this.isUndecodable = isUndecodable;
  }
}

/** Parses and validates a response. Upstream: `VerifyAdmissionResponse`. Throws BadReview. */
export function readReview(answer: Json, version: ReviewVersion, uid: string, isMutating: boolean): ReviewResponse {
  const review = decodeReview(answer, version);
  const { response } = review;
  if (!isObject(response)) throw new BadReview("webhook response was absent");
  const isStrict = version === "v1";
  if (isStrict) checkIdentity(review, response, uid);
  const patch = Buffer.from(textOf(response.patch), "base64");
  // Compat: `PatchType` is a pointer, so an empty text differs from an absent one.
  const patchType = sentPatchType(answer);
  if (isStrict) checkPatch(patch.length > 0, patchType, isMutating);
  return {
    isAllowed: response.allowed === true,
    status: isObject(response.status) ? response.status : undefined,
    patch: isMutating && patch.length > 0 ? patch : undefined,
    patchType: isStrict ? (patchType ?? "") : "JSONPatch",
    annotations: (isObject(response.auditAnnotations) ? response.auditAnnotations : {}) as Record<string, string>,
    warnings: Array.isArray(response.warnings) ? response.warnings.map(textOf) : [],
  };
}

function sentPatchType(answer: Json): string | undefined {
  const response = isObject(answer) && isObject(answer.response) ? answer.response : {};
  return typeof response.patchType === "string" ? response.patchType : undefined;
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/**
 * Compat: a missing kind or apiVersion defaults to that of the requested version, but `checkIdentity` still sees it as
 * missing.
 */
function decodeReview(answer: Json, version: ReviewVersion): JsonObject {
  const problem = typeMetaError(answer);
  if (problem !== undefined) throw new BadReview(problem, true);
  const sent = isObject(answer) ? answer : {};
  const { value, error } = decodeBySchema(sent, SCHEMAS[version]);
  if (error !== undefined) throw new BadReview(error, true);
  const apiVersion = textOf(value.apiVersion) || `${GROUP}/${version}`;
  const kind = textOf(value.kind) || KIND;
  if (kind !== KIND || reviewVersion([apiVersion.slice(GROUP.length + 1)]) === undefined || !isOfGroup(apiVersion)) {
    throw new BadReview(
      `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(SCHEME)}`,
      true,
    );
  }
  const other = apiVersion.slice(GROUP.length + 1);
  if (other !== version) {
    throw new BadReview(`converting (${other}.${KIND}) to (${version}.${KIND}): unknown conversion`, true);
  }
  return value;
}

const isOfGroup = (apiVersion: string): boolean => apiVersion.startsWith(`${GROUP}/`);

function checkIdentity({ kind, apiVersion }: JsonObject, { uid }: JsonObject, expected: string): void {
  if (textOf(uid) !== expected) {
    throw new BadReview(`expected response.uid=${quote(expected)}, got ${quote(textOf(uid))}`);
  }
  if (kind !== KIND || apiVersion !== `${GROUP}/v1`) {
    const shown = `${textOf(apiVersion) || "/"}, Kind=${textOf(kind)}`;
    throw new BadReview(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${shown}`);
  }
}

function checkPatch(hasPatch: boolean, patchType: string | undefined, isMutating: boolean): void {
  if (!isMutating) {
    if (hasPatch) throw new BadReview("validating webhook may not return response.patch");
    if (patchType !== undefined) throw new BadReview("validating webhook may not return response.patchType");
    return;
  }
  if (hasPatch && patchType === undefined) {
    throw new BadReview("webhook returned response.patch but not response.patchType");
  }
  if (!hasPatch && patchType !== undefined) {
    throw new BadReview("webhook returned response.patchType but not response.patch");
  }
  if (patchType === "") throw new BadReview('webhook returned invalid response.patchType of ""');
}
