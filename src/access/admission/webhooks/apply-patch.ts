import { ApiError, internalError } from "../../../base/api/api-error.ts";
import { apiVersionOf, isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { TooCostly } from "../../../base/util/meter.ts";
import { parseForeignJson } from "../../../data/encoding/json/json.ts";
import { sameValue } from "../../../data/patch/apply/typed.ts";
import { jsonPatch, parseJsonPatch } from "../../../data/patch/json-patch.ts";
import { convertEventually } from "../../../resources/model/conversion.ts";
import type { DefaultsContext } from "../../../resources/model/definition.ts";
import { strategyOf } from "../../../resources/strategies/strategy-of.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { replaceObject } from "../versioned.ts";
import { CallFailure } from "./failures.ts";

/** A patch from a webhook. */
export interface ReviewPatch {
  /** Name of the webhook. */
  readonly name: string;
  readonly request: AdmissionRequest;
  readonly matched: MatchedResource;
  /** In the version that the webhook received. */
  readonly object: KubeObject | undefined;
  readonly patch: Buffer;
  readonly patchType: string;
}

/** The result of a patch. */
export interface PatchedObject {
  readonly patch: Json;
  /** Whether the object differs, before defaults are set. */
  readonly isChanged: boolean;
  /** Replaces the request's object, and sets defaults. */
  store(defaults: DefaultsContext): Promise<void>;
}

/**
 * Applies the patch of a webhook. Undefined if it has no operations. Throws CallFailure, ApiError 500, and TooCostly.
 * `maxValues` is the maximum number of values in the patch.
 */
export function applyReviewPatch(given: ReviewPatch, maxValues: number): PatchedObject | undefined {
  const { name, object, patchType } = given;
  const patch = readPatch(given.patch, maxValues);
  if (!Array.isArray(patch) || patch.length === 0) return undefined;
  if (!object) {
    const text = `admission webhook ${quote(name)} attempted to modify the object, which is not supported for this operation`;
    throw internalError(text);
  }
  if (patchType !== "JSONPatch") throw new CallFailure(`unsupported patch type ${quote(patchType)}`, 400);
  const next = decodePatched(given, patched(object, patch));
  return {
    patch,
    isChanged: !sameValue(object, next) && !sameValue(decodePatched(given, object), next),
    store: (defaults) => replace(given, next, defaults),
  };
}

/** Differs: kube-apiserver limits the operations of a client's patch only. */
function readPatch(bytes: Buffer, maxValues: number): Json {
  try {
    const patch = parseForeignJson(bytes, maxValues);
    // Checks only the format: operations are checked when they are applied.
    parseJsonPatch(patch, false);
    return patch;
  } catch (error) {
    if (error instanceof TooCostly) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new CallFailure(`received undecodable patch in webhook response: ${text}`, 503);
  }
}

function patched(object: KubeObject, patch: Json[]): Json {
  try {
    return jsonPatch(object, parseJsonPatch(patch, false));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw internalError(typeof error.cause === "string" ? error.cause : error.message);
  }
}

/** Decodes the patched object by the schema of its kind. */
function decodePatched({ request, matched }: ReviewPatch, value: Json): KubeObject {
  const { kind } = matched;
  const { definition } = request.body;
  const isOwn = definition.kind === kind.kind && definition.group === kind.group;
  const shape = isOwn ? definition : matched.definition;
  const version = shape.versions.find(({ name }) => name === kind.version);
  if (!version || !isObject(value)) throw internalError("the patched object is invalid");
  const decoded = strategyOf(shape).decode(value, version.schema());
  if (decoded.error !== undefined) throw internalError(decoded.error);
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = decoded.value;
  const apiVersion = apiVersionOf(kind.group, kind.version);
  return { kind: kind.kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest };
}

/** A webhook may receive the object as an equivalent one of another group; this converts it back. */
async function replace({ request, matched }: ReviewPatch, next: KubeObject, defaults: DefaultsContext): Promise<void> {
  const { definition, apiVersion } = request.body;
  const isForeign = matched.kind.group !== definition.group;
  await replaceObject(request, isForeign ? await convertEventually(definition, next, apiVersion) : next, defaults);
}
