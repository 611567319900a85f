import type { KubeObject } from "../../api/object.ts";
import type { ServedResource } from "../model/catalog.ts";

/** What selectors read of an object: all they need, and little else, so that it can be kept for every object. */
export interface SelectableValues {
  /** The object with nothing but its type, name, namespace, uid and labels. */
  readonly object: KubeObject;
  /** Values of the fields that the kind lets one select by, in the order of its `selectableFields`. */
  readonly fields: readonly string[];
}

const NO_FIELDS: readonly string[] = [];

/** Reads what selectors need from an object of the given version. */
export function readSelectable({ version }: ServedResource, object: KubeObject): SelectableValues {
  const { kind, apiVersion, metadata } = object;
  const { name, namespace, uid, labels } = metadata;
  return {
    object: { kind, apiVersion, metadata: { name, namespace, uid, labels } },
    fields: version.selectableFields?.map((field) => field.value(object)) ?? NO_FIELDS,
  };
}
