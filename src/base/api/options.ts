import { badRequest, invalidOptions } from "./api-error.ts";
import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  printValue,
  tooLongField,
} from "./field-error.ts";
import { byteLength } from "./names.ts";
import { isObject, type Json } from "./object.ts";
import { isTruthy } from "./request-info.ts";

/** The query of a list or a watch. */
export interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly shardSelector: string;
  readonly limit: number;
  readonly continueToken: string;
  /** As sent. Empty if omitted. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 if omitted. */
  readonly timeoutSeconds: number;
  readonly allowWatchBookmarks: boolean;
  /** Undefined if omitted. */
  readonly sendInitialEvents: boolean | undefined;
}

/** The query of a create, replace or patch. */
export interface WriteQuery {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

/** The options of a delete, from its body or its query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun: boolean;
}

const MAX_INT64 = 9_223_372_036_854_775_807n;

/**
 * Parses a 64-bit integer query parameter. Undefined if empty. Throws BadRequest with the message of
 * `strconv.ParseInt`.
 */
export function parseInteger(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  const problem = (why: string) => badRequest(`strconv.ParseInt: parsing ${printValue(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw problem("invalid syntax");
  const value = BigInt(text);
  if (value > MAX_INT64 || value < -MAX_INT64 - 1n) throw problem("value out of range");
  return Number(value);
}

/** Parses the list options of a query without checking their combination. Throws BadRequest. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const sendInitialEvents = query.get("sendInitialEvents");
  return {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    shardSelector: query.get("shardSelector") ?? "",
    limit: Math.max(0, parseInteger(query.get("limit")) ?? 0),
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: Math.max(0, parseInteger(query.get("timeoutSeconds")) ?? 0),
    allowWatchBookmarks: isTruthy(query.get("allowWatchBookmarks")),
    sendInitialEvents: sendInitialEvents === null ? undefined : isTruthy(sendInitialEvents),
  };
}

/** Throws Invalid if the options of a list contradict each other. */
export function validateListQuery(query: ListQuery): void {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match } = query;
  const forbid = (text: string) => errors.push(forbiddenField("resourceVersionMatch", text));
  if (match !== "") {
    if (query.resourceVersion === "") forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (query.continueToken !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupportedField("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && query.resourceVersion === "0") {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (query.sendInitialEvents !== undefined) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}

/** Throws Invalid if the options of a watch contradict each other. */
export function validateWatchQuery(query: ListQuery): void {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match } = query;
  const forbid = (text: string) => errors.push(forbiddenField("resourceVersionMatch", text));
  if (query.sendInitialEvents !== undefined && match !== "NotOlderThan") {
    forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match !== "") {
    if (query.sendInitialEvents === undefined) {
      forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (match !== "NotOlderThan") errors.push(notSupportedField("resourceVersionMatch", match, ["NotOlderThan"]));
    if (query.continueToken !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
  }
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}

const FIELD_VALIDATION = ["", "Ignore", "Strict", "Warn"];
const MAX_MANAGER_BYTES = 128;

/**
 * Parses and validates the options of a write. `kind` is CreateOptions, UpdateOptions or PatchOptions. Throws Invalid.
 */
export function parseWriteQuery(kind: string, query: URLSearchParams, extra: readonly FieldError[] = []): WriteQuery {
  const dryRun = query.getAll("dryRun");
  const fieldManager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors = [...extra, ...dryRunErrors(dryRun), ...managerErrors(fieldManager)];
  if (!FIELD_VALIDATION.includes(fieldValidation)) {
    errors.push(notSupportedField("fieldValidation", fieldValidation, FIELD_VALIDATION));
  }
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation === "" ? "Warn" : fieldValidation) as WriteQuery["fieldValidation"],
  };
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.some((value) => value !== "All") ? [notSupportedField("dryRun", dryRun, ["All"])] : [];
}

/** Validates the name of a field manager. Upstream: `ValidateFieldManager`. */
export function managerErrors(manager: string, field = "fieldManager"): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLongField(field, MAX_MANAGER_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalidField(field, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += 1;
  }
  return errors;
}

const POLICIES = ["Foreground", "Background", "Orphan", "nil"];

/** Parses the options of a delete: from the body if there is one, otherwise from the query. Throws Invalid. */
export function parseDeleteOptions(query: URLSearchParams, body: Json | undefined): DeleteOptions {
  const options = isObject(body) ? bodyOptions(body) : queryOptions(query);
  const errors = dryRunErrors(options.dryRun);
  if (options.propagationPolicy !== undefined) {
    if (options.orphanDependents !== undefined) {
      const text = "orphanDependents and deletionPropagation cannot be both set";
      errors.push(invalidField("propagationPolicy", options.propagationPolicy, text));
    } else if (!POLICIES.slice(0, 3).includes(options.propagationPolicy)) {
      errors.push(notSupportedField("propagationPolicy", options.propagationPolicy, POLICIES));
    }
  }
  if (errors.length > 0) throw invalidOptions("DeleteOptions", errors);
  return { ...options, dryRun: options.dryRun.length > 0 };
}

type RawDeleteOptions = Omit<DeleteOptions, "dryRun"> & { dryRun: string[] };

function queryOptions(query: URLSearchParams): RawDeleteOptions {
  const orphan = query.get("orphanDependents");
  // Compat: in the query, the members of `preconditions` (uid and resourceVersion) are separate parameters.
  const uid = query.get("uid") ?? undefined;
  const resourceVersion = query.get("resourceVersion") ?? undefined;
  return {
    gracePeriodSeconds: parseInteger(query.get("gracePeriodSeconds")),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    orphanDependents: orphan === null ? undefined : isTruthy(orphan),
    preconditions: uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
    dryRun: query.getAll("dryRun"),
  };
}

function bodyOptions(body: { [member: string]: Json | undefined }): RawDeleteOptions {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = body;
  const { uid, resourceVersion } = isObject(preconditions) ? preconditions : {};
  return {
    gracePeriodSeconds: typeof gracePeriodSeconds === "number" ? gracePeriodSeconds : undefined,
    propagationPolicy: typeof propagationPolicy === "string" ? propagationPolicy : undefined,
    orphanDependents: typeof orphanDependents === "boolean" ? orphanDependents : undefined,
    preconditions: isObject(preconditions)
      ? {
          uid: typeof uid === "string" ? uid : undefined,
          resourceVersion: typeof resourceVersion === "string" ? resourceVersion : undefined,
        }
      : undefined,
    dryRun: Array.isArray(dryRun) ? dryRun.map(String) : [],
  };
}
