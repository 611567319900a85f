import type { KubeObject } from "../../base/api/object.ts";
import type { ServedResource } from "../model/catalog.ts";

/** The values of an object that selectors read. Small, so it can be cached for every object. */
export interface SelectableValues {
  /** The object reduced to its type, name, namespace, uid and labels. */
  readonly object: KubeObject;
  /** Values of the kind's selectable fields, in the order of its `selectableFields`. */
  readonly fields: readonly string[];
}

const NO_FIELDS: readonly string[] = [];

/** Reads the values that selectors need from an object of the given version. */
export function readSelectable({ version }: ServedResource, object: KubeObject): SelectableValues {
  const { kind, apiVersion, metadata } = object;
  const { name, namespace, uid, labels } = metadata;
  return {
    object: { kind, apiVersion, metadata: { name, namespace, uid, labels } },
    fields: version.selectableFields?.map((field) => field.value(object)) ?? NO_FIELDS,
  };
}
