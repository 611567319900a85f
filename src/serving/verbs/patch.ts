import { type ApiError, badRequest, plainError, unsupportedMediaType } from "../../base/api/api-error.ts";
import { BodyError, type Call, type RequestBody } from "../../base/api/call.ts";
import { forbiddenField, requiredField } from "../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { parseWriteQuery, type WriteQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { isTruthy } from "../../base/api/request-info.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { applyPatch } from "../../data/patch/apply/apply-patch.ts";
import { duplicatesInDocument, jsonPatch, jsonTypeOf, parseJsonPatch } from "../../data/patch/json-patch.ts";
import { mergePatch } from "../../data/patch/merge-patch.ts";
import { strategicMerge } from "../../data/patch/strategic-merge.ts";
import { printGoValue } from "../../data/patch/strategic-print.ts";
import type { BodyForm } from "../../data/schema/decode-state.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Draft } from "../../resources/model/draft.ts";
import { tracking } from "../../resources/model/tracking.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import { dedupeOwnerReferences, printTime, settleNamespace } from "../../resources/write/metadata.ts";
import { admissionRequest } from "./admission-request.ts";
import { PatchError, typePatched, writtenValue } from "./body.ts";
import { managerOf, recordManager } from "./field-manager.ts";
import { judgeWrite } from "./judge-write.ts";
import { mutateDraft } from "./mutate-draft.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

/** A decoded patch. It is applied to the current object, again after each conflict. */
interface ReadPatch {
  /** Returns the patched object, not yet decoded by its schema. */
  apply(current: KubeObject): Json;
  /** Strict decoding errors in the patch itself. */
  readonly problems: readonly string[];
  readonly form: BodyForm;
  /** What an error about the result quotes. Optional. If omitted, the result. */
  readonly quoted?: () => string;
}

type PatchReader = (body: RequestBody, target: Target, isChecked: boolean) => ReadPatch;

const STRATEGIC = "application/strategic-merge-patch+json";
const READERS: Readonly<Record<string, PatchReader>> = {
  "application/json-patch+json": readJsonPatch,
  "application/merge-patch+json": (body, target, isChecked) => {
    const value = writtenValue(body, target);
    return {
      apply: (current) => mergePatch(current, value, isChecked),
      problems: body.duplicates(),
      form: "sorted",
    };
  },
  [STRATEGIC]: (body, target) => ({
    apply: (current) => strategicMerge(current, body.value, target.resource.version.schema()),
    problems: body.duplicates(),
    form: "merged",
    // Compat: `applyPatchToObject` quotes the patch as Go prints a map; `jsonPatcher` quotes the patched JSON.
    quoted: () => printGoValue(body.value),
  }),
};
const APPLY = "application/apply-patch+yaml";
const UNSTRUCTURED_PATCHES = ["application/json-patch+json", "application/merge-patch+json", APPLY];
const UNKNOWN_FORMAT = "the body of the request was in an unknown format - accepted media types include:";

/** Returns the media type of a patch. Throws 415 if the kind does not support it. */
export function requirePatchType(call: Call, { definition }: ServedResource): string {
  const header = call.request.headers["content-type"];
  const type = (typeof header === "string" ? header : "").split(";")[0]?.trim() ?? "";
  const { isUnstructured } = strategyOf(definition);
  if (type === APPLY || (Object.hasOwn(READERS, type) && !(isUnstructured && type === STRATEGIC))) return type;
  // Compat: the CustomResourceDefinition handler negotiates patches itself; the message below is go-restful's.
  if (isUnstructured) throw unsupportedMediaType(`${UNKNOWN_FORMAT} ${UNSTRUCTURED_PATCHES.join(", ")}`);
  throw unsupportedMediaType("415: Unsupported Media Type", {});
}

/** Patches an object or a subresource. An apply creates the object if it does not exist. */
export async function patch(context: VerbContext, call: Call, target: Target): Promise<ApiReply> {
  const read = READERS[requirePatchType(call, target.resource)];
  if (!read) return apply(context, call, target);
  const force = call.request.query.has("force")
    ? [forbiddenField("force", "may not be specified for non-apply patch")]
    : [];
  const query = parseWriteQuery("PatchOptions", call.request.query, force);
  const body = await readPatchBody(call);
  const { apply: change, problems, form, quoted } = read(body, target, query.fieldValidation !== "Ignore");
  const manager = managerOf(call, query.fieldManager);
  return write(context, call, target, {
    query,
    isApply: false,
    next(current) {
      if (!current) throw new Error("only apply creates objects");
      const draft = typePatched(context, call, target, {
        value: change(current),
        problems,
        form,
        quoted,
        hasWrittenNumbers: body.written !== undefined,
        fieldValidation: query.fieldValidation,
      });
      settle(call, target, draft);
      return proceed(recordManager(context, target, { live: current, draft, manager }), () => draft);
    },
  });
}

/** Compat: a patch body that is not JSON is rejected with 400 "invalid JSON patch" before any other check. */
async function readPatchBody(call: Call): Promise<RequestBody> {
  try {
    const body = await call.body("json");
    if (!body.isEmpty) {
      call.audit?.sentPatch(body.value);
      return body;
    }
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
  }
  throw badRequest("invalid JSON patch");
}

function readJsonPatch(body: RequestBody, target: Target, isChecked: boolean): ReadPatch {
  const read = parseJsonPatch(writtenValue(body, target), isChecked);
  const duplicates = body.duplicates();
  return {
    apply: (current) => jsonPatch(current, read),
    form: "sorted",
    problems: [
      ...read.unknownMembers,
      ...duplicates.map((text) => `json patch ${text}`),
      ...duplicatesInDocument(read, duplicates),
    ],
  };
}

async function apply(context: VerbContext, call: Call, target: Target): Promise<ApiReply> {
  const { query: parameters } = call.request;
  const manager = parameters.get("fieldManager") ?? "";
  const missing = manager === "" ? [requiredField("fieldManager", "is required for apply patch")] : [];
  const query = parseWriteQuery("PatchOptions", parameters, missing);
  const applied = await readApplied(call, query);
  const isForced = isTruthy(parameters.get("force"));
  return write(context, call, target, {
    query,
    isApply: true,
    next(current) {
      const now = printTime(context.resources.clock.now());
      const applying = { live: current, manager, isForced, now };
      const merged = tracking(target.resource, target.subresource, (scope) =>
        applyPatch(scope, { ...applying, applied: cloneJson(applied) }),
      );
      return proceed(merged, (object) => {
        const draft = typeApplied(context, call, target, { merged: object, applied });
        settle(call, target, draft);
        return draft;
      });
    },
  });
}

/**
 * Decodes the result of an apply as an object of the target's kind. Compat: a result that does not fit the schema is a
 * 500 without a reason.
 */
function typeApplied(
  context: VerbContext,
  call: Call,
  target: Target,
  { merged, applied }: { readonly merged: KubeObject; readonly applied: JsonObject },
): Draft {
  try {
    const form = { problems: [], form: "merged", fieldValidation: "Ignore" } as const;
    return typePatched(context, call, target, { ...form, value: merged });
  } catch (error) {
    const detail = error instanceof PatchError ? error.detail : undefined;
    if (detail === undefined) throw error;
    const { group, kind } = target.resource.definition;
    const type = `${group}/${target.resource.version.name}, Kind=${kind}`;
    const { namespace = "", name = "" } = isObject(applied.metadata) ? applied.metadata : {};
    throw plainError(
      500,
      `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${detail}`,
    );
  }
}

async function readApplied(call: Call, query: WriteQuery): Promise<JsonObject> {
  try {
    const body = await call.body("yaml");
    call.audit?.sentPatch(body.value);
    const duplicates = query.fieldValidation === "Ignore" ? [] : body.duplicates();
    if (duplicates.length > 0 && query.fieldValidation === "Strict") {
      const lines = duplicates.map((text) => `\n  ${text}`).join("");
      throw badRequest(`error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
    }
    for (const text of duplicates) call.warnings.push(text);
    if (body.value !== null && !isObject(body.value)) throw notAnObject(body.value);
    return body.value ?? {};
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw badRequest(`error decoding patch: error converting YAML to JSON: ${error.message}`);
  }
}

function notAnObject(value: Json): ApiError {
  const text = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type map[string]interface {}`;
  return badRequest(`error decoding patch: error unmarshaling JSON: while decoding JSON: ${text}`);
}

/** Checks that name and namespace of the patched object still match the URL. */
function settle(call: Call, target: Target, { object: { metadata } }: Draft): void {
  checkName(metadata, target.name);
  settleNamespace(target.resource.definition, metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(metadata);
  if (duplicates !== undefined && !call.warnings.includes(duplicates)) call.warnings.push(duplicates);
}

interface PatchWrite {
  readonly query: WriteQuery;
  readonly isApply: boolean;
  /** Returns the wanted object. Called again after a conflict with another writer. */
  next(current: KubeObject | undefined): Eventually<Draft>;
}

async function write(context: VerbContext, call: Call, target: Target, patched: PatchWrite): Promise<ApiReply> {
  const { resource, namespace, name, subresource } = target;
  const { dryRun } = patched.query;
  const { view, created } = await target.collection.update(
    resource,
    { namespace, name },
    async (current) => {
      const draft = await patched.next(current);
      const { object, holdsEmpties } = draft;
      const operation = current ? "UPDATE" : "CREATE";
      const asked = { operation, dryRun, object, holdsEmpties, previous: current } as const;
      await mutateDraft(context, call, target, admissionRequest(call, target, asked));
      return draft;
    },
    {
      dryRun,
      subresource: subresource === "" ? undefined : subresource,
      isPatch: true,
      mayCreate: patched.isApply,
      user: call.user,
      warn: (text) => call.warnings.push(text),
      admit: (object, previous) => judgeWrite(context, call, target, { dryRun, object, previous }),
    },
  );
  return { type: "object", code: created ? 201 : 200, view, table: resource.version.table };
}
