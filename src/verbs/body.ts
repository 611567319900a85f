import { ApiError, badRequest, invalid } from "../api/api-error.ts";
import { BodyError, type Call } from "../api/call.ts";
import { invalidField } from "../api/field-error.ts";
import { isObject, type Json, type KubeObject } from "../api/object.ts";
import type { WriteQuery } from "../api/options.ts";
import { cloneJson } from "../lib/clone.ts";
import { tidyMetadata } from "../resources/metadata.ts";
import type { Target, VerbContext } from "./target.ts";

/** The object a client sent, as one of the kind that the path names. Throws BadRequest. The caller owns it. */
export async function readObject(context: VerbContext, call: Call, target: Target): Promise<KubeObject> {
  const { kind } = target.resource.definition;
  try {
    const { value, bytes } = await call.body();
    if (bytes.length === 0) throw new BodyError(EMPTY_BODY, bytes);
    return asKind(context, value, target);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${beginning(error.bytes)})`,
    );
  }
}

const EMPTY_BODY = "couldn't get version/kind; json parse error: unexpected end of JSON input";

const SHOWN_BYTES = 30;

/** How a body begins: as text when it looks like JSON, else in hexadecimal. */
function beginning(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const shown = Buffer.from(bytes.subarray(0, SHOWN_BYTES));
  const text = bytes[0] === 0x7b ? shown.toString() : shown.toString("hex");
  return bytes.length > SHOWN_BYTES ? `${text} ...` : text;
}

/** A patched object before its schema has been looked at. */
export interface PatchedValue {
  readonly value: Json;
  /** Strict texts about the patch itself. */
  readonly problems: readonly string[];
  readonly fieldValidation: WriteQuery["fieldValidation"];
}

/** What a patch made, as an object of the target's kind. Throws Invalid. The caller owns it. */
export function typePatched(context: VerbContext, call: Call, target: Target, patched: PatchedValue): KubeObject {
  const { value, problems, fieldValidation } = patched;
  if (fieldValidation === "Strict" && problems.length > 0) {
    throw invalidPatch(value, `strict decoding error: ${problems.join(", ")}`);
  }
  if (fieldValidation === "Warn") for (const text of problems) call.warnings.push(text);
  try {
    return asKind(context, cloneJson(value), target);
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) throw invalidPatch(value, error.message);
    throw error;
  }
}

/** 422 about the result of a patch. Compat: it names neither kind nor object. */
function invalidPatch(value: Json, detail: string): ApiError {
  return invalid({ group: "", kind: "" }, "", [invalidField("patch", JSON.stringify(value), detail)]);
}

/** Checks that a decoded body is an object of the target's kind and completes kind and apiVersion. */
export function asKind(context: VerbContext, body: Json, target: Target): KubeObject {
  const { definition, apiVersion } = target.resource;
  const sent = isObject(body) ? body : {};
  const kind = sent.kind || definition.kind;
  const version = sent.apiVersion || apiVersion;
  if (typeof kind !== "string" || typeof version !== "string") throw badRequest("kind and apiVersion must be strings");
  if (kind !== definition.kind || version !== apiVersion) throw wrongKind(context, target, version, kind);
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = sent;
  const object: KubeObject = {
    kind: definition.kind,
    apiVersion,
    metadata: tidyMetadata(isObject(metadata) ? metadata : {}),
    ...rest,
  };
  for (const [member, value] of Object.entries(object)) if (value === null) delete object[member];
  return object;
}

function wrongKind(context: VerbContext, target: Target, apiVersion: string, kind: string): Error {
  const expected = target.resource.definition;
  const version = apiVersion.includes("/") ? apiVersion.slice(apiVersion.indexOf("/") + 1) : apiVersion;
  const prefix = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: `;
  if (context.resources.catalog.findKind(apiVersion, kind)) {
    const hub = expected.group === "" ? "core" : expected.group.split(".")[0];
    return badRequest(`${prefix}converting (${version}.${kind}) to (${hub}.${expected.kind}): unknown conversion`);
  }
  const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
  return badRequest(`${prefix}no kind "${kind}" is registered for version "${apiVersion}" ${scheme}`);
}
