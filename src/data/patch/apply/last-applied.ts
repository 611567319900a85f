import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { compare, touchedBy } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import { compareText, printValue } from "./path-element.ts";
import { requireShapeOf, type TrackingScope } from "./scope.ts";
import { setOf } from "./set-of.ts";
import { TypedError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** The annotation in which client-side apply stores the last applied configuration. */
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATION_BYTES = 262_144;

/** The manager that takes over fields from client-side apply. */
export const CLIENT_SIDE_SUCCESSOR = "kubectl";

/**
 * The unchanged fields of kubectl.kubernetes.io/last-applied-configuration, which do not cause conflicts for the
 * manager `kubectl`. Undefined if the object was not applied client-side in this version.
 */
export function takenOverFields(scope: TrackingScope, live: KubeObject): FieldSet | undefined {
  const text = annotationOf(live);
  if (text === undefined) return undefined;
  const applied = parseObject(text);
  if (applied?.apiVersion !== scope.apiVersion || applied.kind !== scope.kind) return undefined;
  const shape = requireShapeOf(scope);
  try {
    requireShape(shape, applied);
    const found = compare(shape, applied, live, { leftIsRaw: true });
    return difference(setOf(shape, applied), touchedBy(found));
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
}

function annotationOf(object: KubeObject): string | undefined {
  const text = object.metadata?.annotations?.[ANNOTATION];
  return typeof text === "string" && text !== "" ? text : undefined;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: Json = parseJsonText(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Compat: if an object has the annotation `kubectl.kubernetes.io/last-applied-configuration`, it is set to the applied
 * object, so that kubectl can return to client-side apply. It is removed if annotations would become too large.
 * Upstream: `lastAppliedUpdater`.
 */
export function writeLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  if (annotationOf(object) === undefined) return object;
  const annotations: Record<string, string> = {
    ...object.metadata.annotations,
    [ANNOTATION]: `${printSorted(withoutAnnotation(applied))}\n`,
  };
  if (sizeOf(annotations) > MAX_ANNOTATION_BYTES) delete annotations[ANNOTATION];
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutAnnotation(applied: KubeObject): KubeObject {
  const { annotations, ...metadata } = applied.metadata;
  if (!isObject(annotations)) return { ...applied, metadata };
  const { [ANNOTATION]: _, ...others } = annotations;
  return { ...applied, metadata: { ...metadata, annotations: others } };
}

function printSorted(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(printSorted).join(",")}]`;
  if (!isObject(value)) return printValue(value);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort(compareText)
    .map((name) => `${printValue(name)}:${printSorted(value[name] ?? null)}`);
  return `{${members.join(",")}}`;
}

function sizeOf(annotations: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const [name, text] of Object.entries(annotations)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
  return bytes;
}
