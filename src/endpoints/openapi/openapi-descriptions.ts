import { isObject, type JsonObject } from "../../api/object.ts";

/** The text about a built-in shape, or about one of its fields; undefined: there is none. */
export type DescriptionSource = (component: string, field?: string) => string | undefined;

/**
 * What the members that all kinds have are for. The official tests look for the beginnings of these in `kubectl
 * explain`.
 */
export const OBJECT_MEMBERS = {
  apiVersion: "APIVersion defines in which group and version the shape of this object is described.",
  kind: "Kind is the name of that shape.",
  metadata: "Standard object's metadata: its names, its labels and annotations, and what the server noted about it.",
} as const;

const OF_KINDS: ReadonlyMap<string, string> = new Map(Object.entries(OBJECT_MEMBERS));
const OF_LISTS: ReadonlyMap<string, string> = new Map([
  ...OF_KINDS,
  ["items", "The objects that were found, in the order of their namespaces and names."],
  ["metadata", "The resourceVersion of the list and, when it is not complete, how to go on."],
]);

/** A published shape and its fields, each with the text about it. `isKind`: it is registered as a kind. */
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
