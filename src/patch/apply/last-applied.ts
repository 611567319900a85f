import { isObject, type Json, type JsonObject, type KubeObject } from "../../api/object.ts";
import { compare, touchedBy } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import { compareText, printValue } from "./path-element.ts";
import { requireShapeOf, type TrackingScope } from "./scope.ts";
import { setOf } from "./set-of.ts";
import { TypedError } from "./typed.ts";
import { requireShape } from "./validate.ts";

/** Where client-side apply keeps what it applied last. */
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATION_BYTES = 262_144;

/** The manager whose applies take over from client-side apply. */
export const CLIENT_SIDE_SUCCESSOR = "kubectl";

/**
 * Fields of kubectl.kubernetes.io/last-applied-configuration that nobody changed since: conflicts there are no
 * conflicts for its successor. Undefined when the object was not applied that way in this version.
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
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Compat: an object with the annotation `kubectl.kubernetes.io/last-applied-configuration` gets the applied one written
 * into it, so that kubectl can go back to client-side apply. It is dropped when annotations would become too large.
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
