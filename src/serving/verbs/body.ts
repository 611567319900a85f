import { ApiError, badRequest, invalid } from "../../base/api/api-error.ts";
import { BodyError, type Call, type RequestBody } from "../../base/api/call.ts";
import { invalidField } from "../../base/api/field-error.ts";
import { apiVersionOf, isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { WriteQuery } from "../../base/api/options.ts";
import { quote } from "../../base/go/quote.ts";
import type { Decoded } from "../../data/schema/decode.ts";
import type { BodyForm } from "../../data/schema/decode-state.ts";
import { typeMetaError } from "../../data/schema/decode-type-meta.ts";
import { Draft } from "../../resources/model/draft.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

type FieldValidation = WriteQuery["fieldValidation"];

/** Reads the request body as an object of the target's kind. Throws BadRequest. */
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
    // YAML duplicates are reported per line, not per field, and come first.
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

/** The JSON value of a body. For kinds with a Go type, numbers keep the notation in which they were written. */
export function writtenValue(body: RequestBody, { resource }: Target): Json {
  return (!strategyOf(resource.definition).isUnstructured && body.written?.()) || body.value;
}

/**
 * Requires the body to be of the target's custom kind. Throws ApiError and BodyError. Compat: `UnstructuredJSONScheme`
 * requires a kind. The handler rejects another apiVersion after pruning the body; `customResourceStrategy` rejects
 * another kind.
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
 * Compat: rejected duplicate fields in YAML form one error "yaml: unmarshal errors" with a line each. As warnings they
 * are separate.
 */
function asOneError(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`yaml: unmarshal errors:${lines.map((line) => `\n  ${line}`).join("")}`];
}

const EMPTY_BODY = "couldn't get version/kind; json parse error: unexpected end of JSON input";
const SHOWN_BYTES = 30;

/** The first bytes of a body: as text if it looks like JSON, otherwise in hexadecimal. */
function beginning(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const shown = Buffer.from(bytes.subarray(0, SHOWN_BYTES));
  const text = bytes[0] === 0x7b ? shown.toString() : shown.toString("hex");
  return bytes.length > SHOWN_BYTES ? `${text} ...` : text;
}

/** A patched object before it is decoded by its schema. */
export interface PatchedValue {
  readonly value: Json;
  /** Strict decoding errors in the patch itself. */
  readonly problems: readonly string[];
  readonly fieldValidation: FieldValidation;
  readonly form: BodyForm;
  readonly hasWrittenNumbers?: boolean;
  /** What an error message quotes instead of the value. Optional. If omitted, the value. */
  readonly quoted?: (() => string) | undefined;
}

/** Decodes the result of a patch as an object of the target's kind. Throws Invalid. */
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
 * Returns the patched object if it is of the target's kind. Compat: FromUnstructured, which decodes the result of a
 * strategic merge, treats kind and apiVersion like any other member.
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

/** Compat: `schema.ParseGroupVersion` parses "/" as empty group and version. */
const NO_VERSION = new Set<Json | undefined>([undefined, null, "", "/"]);

/**
 * Compat: `runtime.DecodeInto` decodes a patched object without version into the internal type. That type has no JSON
 * names, so every member is unknown and the object has no name.
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

/** Why a decoded body is rejected. Undefined if it is acceptable. */
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

/** 422 for the result of a patch. Compat: `NewInvalid` gets an empty GroupKind and name. */
export class PatchError extends ApiError {
  /** The problem, without the object. */
  readonly detail: string;

  constructor({ value, quoted }: Pick<PatchedValue, "value" | "quoted">, detail: string) {
    const text = quoted?.() ?? JSON.stringify(value);
    const { code, status } = invalid({ group: "", kind: "" }, "", [invalidField("patch", text, detail)]);
    super(code, status);
    this.detail = detail;
  }
}

/** Puts kind, apiVersion and metadata first and sets the defaults of the kind. */
function complete({ resources }: VerbContext, target: Target, { value, empties }: Decoded): Draft {
  const { definition, apiVersion } = target.resource;
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const { selfLink: _link, ...kept } = isObject(metadata) ? metadata : {};
  const object: KubeObject = { kind: definition.kind, apiVersion, metadata: kept, ...rest };
  strategyOf(definition).setDefaults(target.resource, object, resources);
  return new Draft(object, { holdsEmpties: empties.length > 0 });
}

/** A body whose kind is not that of the path. `reason` is the inner message, without the expected kind. */
class KindError extends ApiError {
  readonly reason: string;

  constructor(refusal: ApiError, reason: string) {
    super(refusal.code, refusal.status);
    this.reason = reason;
  }
}

/** Why an apiVersion is invalid. Undefined if it is valid. Upstream: `schema.ParseGroupVersion`. */
function groupVersionError(body: Json): string | undefined {
  const version = isObject(body) ? body.apiVersion : undefined;
  if (typeof version !== "string" || version.split("/", 3).length <= 2) return undefined;
  return `unexpected GroupVersion string: ${version}`;
}

/** Returns the body if it is of the target's kind. A missing kind or apiVersion defaults to that of the path. */
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
