import type { Entry, EventIndex, EventTerm, StoreEvent } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { SelectableValues } from "./selectable.ts";

const NAME = "/metadata.name";
const NAMESPACE = "/metadata.namespace";

/** The term of a field: what an object has for which `field=value` is true. */
export function fieldTerm(field: string, value: string): EventTerm {
  return { field: `/${field}`, value };
}

/** The term of a label. Keys of labels do not begin with a slash. */
export function labelTerm(key: string, value: string): EventTerm {
  return { field: key, value };
}

/** Reads the labels and selectable fields of changed objects in one served version, for watches with selectors. */
export class SelectableIndex implements EventIndex {
  readonly #selectable: (entry: Entry) => SelectableValues;
  readonly #fields: readonly string[];

  constructor({ version }: ServedResource, selectable: (entry: Entry) => SelectableValues) {
    this.#selectable = selectable;
    this.#fields = version.selectableFields?.map(({ name }) => `/${name}`) ?? [];
  }

  has({ entry, previous }: StoreEvent, term: EventTerm): boolean {
    try {
      return this.#isIn(entry, term) || this.#isIn(previous, term);
    } catch {
      // The watches that need the value report that it cannot be decoded.
      return true;
    }
  }

  visit({ entry, previous }: StoreEvent, visit: (field: string, value: string) => void): boolean {
    try {
      if (entry !== undefined) this.#visit(this.#selectable(entry), visit);
      if (previous !== undefined) this.#visit(this.#selectable(previous), visit);
      return true;
    } catch {
      return false;
    }
  }

  #isIn(entry: Entry | undefined, { field, value }: EventTerm): boolean {
    if (entry === undefined) return false;
    const { object, fields } = this.#selectable(entry);
    const { name = "", namespace = "", labels } = object.metadata;
    if (!field.startsWith("/")) return labels !== undefined && Object.hasOwn(labels, field) && labels[field] === value;
    const own = this.#fields.indexOf(field);
    if (own >= 0) return (fields[own] ?? "") === value;
    return (field === NAME ? name : namespace) === value;
  }

  #visit({ object, fields }: SelectableValues, visit: (field: string, value: string) => void): void {
    const { name = "", namespace = "", labels } = object.metadata;
    visit(NAME, name);
    visit(NAMESPACE, namespace);
    for (const [at, field] of this.#fields.entries()) visit(field, fields[at] ?? "");
    if (labels === undefined) return;
    for (const key of Object.keys(labels)) visit(key, labels[key] ?? "");
  }
}
