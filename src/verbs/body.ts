import { ApiError, badRequest, invalid } from "../api/api-error.ts";
import { BodyError, type Call, type RequestBody } from "../api/call.ts";
import { invalidField } from "../api/field-error.ts";
import { apiVersionOf, isObject, type Json, type JsonObject, type KubeObject } from "../api/object.ts";
import type { WriteQuery } from "../api/options.ts";
import { quote } from "../lib/go/quote.ts";
import { Draft } from "../resources/model/draft.ts";
import { strategyOf } from "../resources/strategies/strategy-of.ts";
import type { Decoded } from "../schema/decode.ts";
import type { BodyForm } from "../schema/decode-state.ts";
import { typeMetaError } from "../schema/decode-type-meta.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

type FieldValidation = WriteQuery["fieldValidation"];

/** The object a client sent, as one of the kind that the path names. Throws BadRequest. */
export async function readObject(
  context: VerbContext,
  call: Call,
  target: Target,
  fieldValidation: FieldValidation,
): Promise<Draft> {
  const { definition } = target.resource;
  const { kind } = definition;
  try {
    const body = await call.body();
    const { format, duplicates } = body;
    const value = writtenValue(body, target);
    if (body.isEmpty) throw new BodyError(EMPTY_BODY, body.bytes);
    const problem = typeMetaError(value) ?? groupVersionError(value);
    if (problem !== undefined) throw new BodyError(problem, body.bytes);
    if (strategyOf(definition).isUnstructured) requireCustomKind(call, target, body, fieldValidation);
    const sent = requireKind(context, value, target);
    const twice = fieldValidation === "Ignore" ? [] : duplicates();
    // Those of YAML are about lines, not about fields, and come first.
    const yamlDuplicates = format === "yaml" ? twice : [];
    const decoded = strategyOf(definition).decode(sent, target.resource.version.schema(), {
      duplicates: format === "yaml" ? [] : twice,
      form: format === "yaml" ? "sorted" : "body",
      keepsEmpties: true,
      hasWrittenNumbers: body.written !== undefined,
    });
    const found = { ...decoded, strict: [...yamlDuplicates, ...decoded.strict] };
    const refusal = refusalOf(
      { ...decoded, strict: [...asOneError(yamlDuplicates), ...decoded.strict] },
      fieldValidation,
    );
    if (refusal !== undefined) throw unhandled(target, target.resource.apiVersion, kind, refusal);
    warnOf(call, found, fieldValidation);
    const draft = complete(context, target, decoded);
    call.audit?.sent(draft.object);
    return draft;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { unknownType: unknown } = error;
    if (unknown) throw unhandled(target, unknown.apiVersion, unknown.kind, error.message);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${beginning(error.bytes)})`,
    );
  }
}

/** The value of a body in JSON: of a kind with a Go type the numbers as they are written. */
export function writtenValue(body: RequestBody, { resource }: Target): Json {
  return (!strategyOf(resource.definition).isUnstructured && body.written?.()) || body.value;
}

/**
 * Makes sure that a body is of a custom kind. Compat: `UnstructuredJSONScheme` needs a kind; another apiVersion is refused
 * by the handler, once the body has been pruned, and another kind by `customResourceStrategy`. Throws ApiError and
 * BodyError.
 */
function requireCustomKind(call: Call, target: Target, body: RequestBody, fieldValidation: FieldValidation): void {
  const { definition, apiVersion } = target.resource;
  const value = isObject(body.value) ? body.value : {};
  const { kind = "" } = value;
  if (kind === "") {
    const shown = body.format === "yaml" ? JSON.stringify(body.value) : Buffer.from(body.bytes).toString();
    throw new BodyError(`Object 'Kind' is missing in '${shown}'`, body.bytes);
  }
  if (value.apiVersion !== apiVersion && typeof value.apiVersion === "string" && value.apiVersion !== "") {
    const sent = definition.versions.find(({ name }) => apiVersionOf(definition.group, name) === value.apiVersion);
    warnOf(call, strategyOf(definition).decode(value, sent?.schema() ?? {}), fieldValidation);
    throw badRequest(
      `the API version in the data (${value.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (typeof kind !== "string" || kind === definition.kind) return;
  const { name } = isObject(value.metadata) ? value.metadata : {};
  throw invalid({ group: definition.group, kind }, typeof name === "string" ? name : "", [
    invalidField("kind", kind, `must be ${definition.kind}`),
  ]);
}

/**
 * Compat: duplicate fields in YAML are one error "yaml: unmarshal errors" with a line each when they are refused, but
 * several warnings.
 */
function asOneError(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`yaml: unmarshal errors:${lines.map((line) => `\n  ${line}`).join("")}`];
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
  readonly fieldValidation: FieldValidation;
  readonly form: BodyForm;
  readonly hasWrittenNumbers?: boolean;
  /** What a refusal quotes in place of the value. */
  readonly quoted?: (() => string) | undefined;
}

/** What a patch made, as an object of the target's kind. Throws Invalid. */
export function typePatched(context: VerbContext, call: Call, target: Target, patched: PatchedValue): Draft {
  const { problems, fieldValidation } = patched;
  try {
    const { definition, version } = target.resource;
    const decoded = strategyOf(definition).decode(
      requirePatchedKind(context, call, target, patched),
      version.schema(),
      {
        form: patched.form,
        keepsEmpties: true,
        hasWrittenNumbers: patched.hasWrittenNumbers,
      },
    );
    const all = { ...decoded, strict: [...problems, ...decoded.strict] };
    const refusal = refusalOf(all, fieldValidation);
    if (refusal !== undefined) throw new PatchError(patched, refusal);
    warnOf(call, all, fieldValidation);
    return complete(context, target, decoded);
  } catch (error) {
    if (error instanceof KindError) throw new PatchError(patched, error.reason);
    throw error;
  }
}

/**
 * A patched object, once it is sure that it is of the target's kind. Compat: FromUnstructured, which decodes the result
 * of a strategic merge, takes kind and apiVersion for members like all others.
 */
function requirePatchedKind(context: VerbContext, call: Call, target: Target, patched: PatchedValue): JsonObject {
  const { value, form } = patched;
  if (form === "merged" && isObject(value)) return value;
  const problem = typeMetaError(value) ?? groupVersionError(value);
  if (problem !== undefined) throw new PatchError(patched, problem);
  const { isUnstructured } = strategyOf(target.resource.definition);
  if (!isUnstructured && isObject(value) && NO_VERSION.has(value.apiVersion)) refuseUnversioned(call, target, patched);
  return requireKind(context, value, target);
}

/** Compat: `schema.ParseGroupVersion` takes "/" for no group and no version. */
const NO_VERSION = new Set<Json | undefined>([undefined, null, "", "/"]);

/**
 * Compat: `runtime.DecodeInto` decodes the patched object into the internal type when it names no version. That has no
 * JSON names, so that every member is unknown, and the object has no name.
 */
function refuseUnversioned(call: Call, target: Target, patched: PatchedValue): void {
  const { value, fieldValidation } = patched;
  const members = isObject(value) ? Object.keys(value).filter((name) => name !== "kind" && name !== "apiVersion") : [];
  const decoded = { value: {}, empties: [], strict: members.sort().map((name) => `unknown field ${quote(name)}`) };
  const refusal = refusalOf(decoded, fieldValidation);
  if (refusal !== undefined) throw new PatchError(patched, refusal);
  warnOf(call, decoded, fieldValidation);
  checkName({}, target.name);
}

/** Why a decoded body cannot be taken; undefined when it can. */
function refusalOf({ error, strict }: Decoded, fieldValidation: FieldValidation): string | undefined {
  if (error !== undefined) return error;
  if (fieldValidation !== "Strict" || strict.length === 0) return undefined;
  return `strict decoding error: ${strict.join(", ")}`;
}

function warnOf(call: Call, { strict }: Decoded, fieldValidation: FieldValidation): void {
  if (fieldValidation !== "Warn") return;
  const known = new Set(call.warnings);
  for (const text of strict) {
    if (known.has(text)) continue;
    known.add(text);
    call.warnings.push(text);
  }
}

/** 422 about the result of a patch. Compat: `NewInvalid` gets an empty GroupKind and name. */
export class PatchError extends ApiError {
  /** What is wrong, without the object. */
  readonly detail: string;

  constructor({ value, quoted }: Pick<PatchedValue, "value" | "quoted">, detail: string) {
    const text = quoted?.() ?? JSON.stringify(value);
    const { code, status } = invalid({ group: "", kind: "" }, "", [invalidField("patch", text, detail)]);
    super(code, status);
    this.detail = detail;
  }
}

/** Puts kind, apiVersion and metadata first and fills in the defaults of the kind. */
function complete({ resources }: VerbContext, target: Target, { value, empties }: Decoded): Draft {
  const { definition, apiVersion } = target.resource;
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const { selfLink: _link, ...kept } = isObject(metadata) ? metadata : {};
  const object: KubeObject = { kind: definition.kind, apiVersion, metadata: kept, ...rest };
  strategyOf(definition).setDefaults(target.resource, object, resources);
  return new Draft(object, { holdsEmpties: empties.length > 0 });
}

/** A body of another kind than the path's. `reason` is the inner text, without what it was taken for. */
class KindError extends ApiError {
  readonly reason: string;

  constructor(refusal: ApiError, reason: string) {
    super(refusal.code, refusal.status);
    this.reason = reason;
  }
}

/** Why an apiVersion is none. Upstream: `schema.ParseGroupVersion`. */
function groupVersionError(body: Json): string | undefined {
  const version = isObject(body) ? body.apiVersion : undefined;
  if (typeof version !== "string" || version.split("/", 3).length <= 2) return undefined;
  return `unexpected GroupVersion string: ${version}`;
}

/** The body, once it is sure that it is of the target's kind; what it leaves out comes from the path. */
function requireKind(context: VerbContext, body: Json, target: Target): JsonObject {
  const { definition, apiVersion } = target.resource;
  const sent = isObject(body) ? body : {};
  const kind = typeof sent.kind === "string" && sent.kind !== "" ? sent.kind : definition.kind;
  const version = NO_VERSION.has(sent.apiVersion) ? apiVersion : String(sent.apiVersion);
  if (kind === definition.kind && (version === apiVersion || target.otherApiVersions?.includes(version))) return sent;
  const reason = mismatch(context, target, version, kind);
  throw new KindError(unhandled(target, version, kind, reason), reason);
}

function unhandled(target: Target, apiVersion: string, kind: string, reason: string): ApiError {
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  const expected = target.resource.definition.kind;
  return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${expected}: ${reason}`);
}

function mismatch(context: VerbContext, target: Target, apiVersion: string, kind: string): string {
  const expected = target.resource.definition;
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  if (context.resources.catalog.findKind(apiVersion, kind)) {
    const hub = expected.group === "" ? "core" : expected.group.split(".")[0];
    return `converting (${version}.${kind}) to (${hub}.${expected.kind}): unknown conversion`;
  }
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/api/legacyscheme/scheme.go:30"`;
}
