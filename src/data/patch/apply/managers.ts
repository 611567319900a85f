import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { EMPTY, type FieldSet, FieldSetError, isEmpty, parseFieldSet } from "./field-set.ts";
import { compareText } from "./path-element.ts";

/** The operation of an entry of managedFields. */
export type Operation = "Apply" | "Update";

/** A field manager: one entry of `metadata.managedFields`. */
export interface Manager {
  /** An empty name is written as "unknown". */
  readonly name: string;
  readonly operation: Operation;
  /** The version that the paths of `fields` refer to. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** The time in seconds, as in `2006-01-02T15:04:05Z`. Undefined if the manager has not changed the object. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** All managers of an object by identity (see `identify`). */
export type Managers = Map<string, Manager>;

/** Entries are malformed. The message is the wire text. */
export class ManagedFieldsError extends Error {}

/**
 * The identity of a manager: name, operation and subresource, and for Update also the version. Conflicts are reported
 * in the order of the identity. Upstream: `BuildManagerIdentifier`.
 */
export function identify(manager: Omit<Manager, "time" | "fields">): string {
  const { name, operation, apiVersion, subresource } = manager;
  const version = operation === "Apply" ? "" : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const part = subresource === "" ? "" : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(name === "" ? "unknown" : name)},"operation":"${operation}"${version}${part}}`;
}

/**
 * Parses entries of managedFields. Throws ManagedFieldsError. `isTrusted`: the entries were written by a server, so
 * their sets are canonical and used unchanged.
 */
export function parseManagers(entries: readonly Json[] | undefined, isTrusted: boolean): Managers {
  const managers: Managers = new Map();
  for (const [i, entry] of (entries ?? []).entries()) {
    const manager = parseEntry(isObject(entry) ? entry : {}, i, isTrusted);
    managers.set(identify(manager), manager);
  }
  return managers;
}

/** The error in entries from elsewhere, e.g. from an admission webhook. Undefined if they are valid. */
export function findProblem(entries: readonly Json[] | undefined): string | undefined {
  try {
    parseManagers(entries, false);
    return undefined;
  } catch (error) {
    if (error instanceof ManagedFieldsError) return error.message;
    throw error;
  }
}

function parseEntry(entry: JsonObject, index: number, isTrusted: boolean): Manager {
  const { operation, fieldsType } = entry;
  if (operation !== "Apply" && operation !== "Update") {
    throw new ManagedFieldsError("operation must be `Apply` or `Update`");
  }
  const apiVersion = textOf(entry.apiVersion);
  if (apiVersion === "") throw new ManagedFieldsError("apiVersion must not be empty");
  if (fieldsType === undefined || fieldsType === null || fieldsType === "") {
    throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  }
  if (fieldsType !== "FieldsV1") {
    throw new ManagedFieldsError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  }
  return {
    name: textOf(entry.manager),
    operation,
    apiVersion,
    subresource: textOf(entry.subresource),
    time: timeOf(entry.time),
    fields: isTrusted ? ((entry.fieldsV1 as FieldSet | undefined | null) ?? EMPTY) : readFields(entry),
  };
}

function readFields(entry: JsonObject): FieldSet {
  try {
    return parseFieldSet(entry.fieldsV1);
  } catch (error) {
    if (!(error instanceof FieldSetError)) throw error;
    const text = `error decoding set: parsing key as path element: ${error.message}`;
    throw new ManagedFieldsError(`error decoding versioned set from ${printGoEntry(entry)}: ${text}`);
  }
}

/**
 * Compat: `DecodeManagedFields` prints a ManagedFieldsEntry like Go's `%v`. The buffer that `jsoniter` appends is left
 * out.
 */
function printGoEntry({ manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource }: JsonObject): string {
  const at = timeOf(time)?.replace("T", " ").replace("Z", " +0000 UTC") ?? "<nil>";
  const texts = [manager, operation, apiVersion].map(textOf);
  return `{${[...texts, at, textOf(fieldsType), JSON.stringify(fieldsV1), textOf(subresource)].join(" ")}}`;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

const CANONICAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function timeOf(value: Json | undefined): string | undefined {
  if (typeof value !== "string" || CANONICAL_TIME.test(value)) return textOf(value) === "" ? undefined : textOf(value);
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/**
 * The entries of `metadata.managedFields` in wire order. Undefined if there are none. Managers without fields must have
 * been removed.
 */
export function printManagers(managers: Managers): Json[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(printEntry);
}

/**
 * Orders Apply before Update, and older before newer. Times of the same format compare as text. Upstream:
 * `sortEncodedManagedFields`.
 */
export function compareManagers(left: Manager, right: Manager): number {
  return (
    compareText(left.operation, right.operation) ||
    compareText(left.time ?? "", right.time ?? "") ||
    compareText(left.name, right.name) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource, right.subresource)
  );
}

function printEntry({ name, operation, apiVersion, subresource, time, fields }: Manager): Json {
  return {
    manager: name === "" ? "unknown" : name,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: fields as JsonObject,
    ...(subresource === "" ? {} : { subresource }),
  };
}

/** Removes managers without fields. */
export function dropIdle(managers: Managers): void {
  for (const [id, { fields }] of managers) if (isEmpty(fields)) managers.delete(id);
}
