import { isObject, type JsonObject } from "../../../base/api/object.ts";

/** Returns the description of a built-in schema or of one of its fields. Undefined if there is none. */
export type DescriptionSource = (component: string, field?: string) => string | undefined;

/**
 * Descriptions of the members that all kinds have. The Kubernetes e2e tests check how these begin in `kubectl explain`.
 */
export const OBJECT_MEMBERS = {
  apiVersion: "APIVersion defines the group and version of this object's schema.",
  kind: "Kind is the type of this object.",
  metadata: "Standard object's metadata: name, labels, annotations, and fields that the server sets.",
} as const;

const OF_KINDS: ReadonlyMap<string, string> = new Map(Object.entries(OBJECT_MEMBERS));
const OF_LISTS: ReadonlyMap<string, string> = new Map([
  ...OF_KINDS,
  ["items", "The selected objects, sorted by namespace and name."],
  ["metadata", "The resourceVersion of the list and, if it is incomplete, the token for the next page."],
]);

/** Adds descriptions to a published schema and its fields. `isKind`: the schema is registered as a kind. */
export function described(
  published: JsonObject,
  component: string,
  isKind: boolean,
  texts: DescriptionSource,
): JsonObject {
  const { properties } = published;
  const isList = isKind && component.endsWith("List") && isObject(properties) && properties.items !== undefined;
  const listed = component.slice(component.lastIndexOf(".") + 1, -"List".length);
  const own = texts(component) ?? (isList ? `A list of ${listed} objects.` : undefined);
  const shape = own === undefined ? published : { description: own, ...published };
  if (!isObject(properties)) return shape;
  const common = isList ? OF_LISTS : isKind ? OF_KINDS : undefined;
  const fields: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const text = texts(component, name) ?? common?.get(name);
    fields[name] = text === undefined || !isObject(property) ? property : { description: text, ...property };
  }
  return { ...shape, properties: fields };
}
