import { ApiError, internalError } from "../../api/api-error.ts";
import { apiVersionOf, isObject, type Json, type KubeObject } from "../../api/object.ts";
import { parseJson } from "../../encoding/json/json.ts";
import { quote } from "../../lib/go/quote.ts";
import { sameValue } from "../../patch/apply/typed.ts";
import { jsonPatch, parseJsonPatch } from "../../patch/json-patch.ts";
import { convertEventually } from "../../resources/model/conversion.ts";
import type { DefaultsContext } from "../../resources/model/definition.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { replaceObject } from "../versioned.ts";
import { CallFailure } from "./failures.ts";

/** A patch that a webhook wants to have applied. */
export interface ReviewPatch {
  /** Of the webhook. */
  readonly name: string;
  readonly request: AdmissionRequest;
  readonly matched: MatchedResource;
  /** In the version that the webhook was shown. */
  readonly object: KubeObject | undefined;
  readonly patch: Buffer;
  readonly patchType: string;
}

/** What a patch makes of the object. */
export interface PatchedObject {
  readonly patch: Json;
  /** Whether it is another object, before its defaults have been filled in. */
  readonly isChanged: boolean;
  /** Puts it in the place of the request's object, with its defaults. */
  store(defaults: DefaultsContext): Promise<void>;
}

/** Applies the patch of a webhook. Undefined: it has no operations. Throws CallFailure and 500. */
export function applyReviewPatch(given: ReviewPatch): PatchedObject | undefined {
  const { name, object, patchType } = given;
  const patch = readPatch(given.patch);
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

function readPatch(bytes: Buffer): Json {
  try {
    const patch = parseJson(bytes);
    // Only its form: what an operation says is looked at when it is applied.
    parseJsonPatch(patch, false);
    return patch;
  } catch (error) {
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

/** The patched object as its kind writes it. */
function decodePatched({ request, matched }: ReviewPatch, value: Json): KubeObject {
  const { kind } = matched;
  const { definition } = request.body;
  const isOwn = definition.kind === kind.kind && definition.group === kind.group;
  const shape = isOwn ? definition : matched.definition;
  const version = shape.versions.find(({ name }) => name === kind.version);
  if (!version || !isObject(value)) throw internalError("the patched object is none");
  const decoded = strategyOf(shape).decode(value, version.schema());
  if (decoded.error !== undefined) throw internalError(decoded.error);
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = decoded.value;
  const apiVersion = apiVersionOf(kind.group, kind.version);
  return { kind: kind.kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest };
}

/** Equivalent objects of another group are shown to webhooks as such, and are those of the request's group again here. */
async function replace({ request, matched }: ReviewPatch, next: KubeObject, defaults: DefaultsContext): Promise<void> {
  const { definition, apiVersion } = request.body;
  const isForeign = matched.kind.group !== definition.group;
  await replaceObject(request, isForeign ? await convertEventually(definition, next, apiVersion) : next, defaults);
}
