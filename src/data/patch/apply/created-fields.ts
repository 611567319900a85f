import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { BoundedMemo } from "../../../base/util/memoize.ts";
import type { FieldSet } from "./field-set.ts";
import type { TrackingScope } from "./scope.ts";

const MAX_BUILD = 8192;

/**
 * Cache of creator fields. Most objects are created in great numbers from a few templates, and the fields of their
 * creator depend only on which fields they have.
 */
const sets = new BoundedMemo<string, CreatorFields>({ results: 500, textLength: MAX_BUILD });
// A number per scope, as part of the keys of `sets`. Scopes live as long as the kind is served.
const scopeNumbers = new WeakMap<TrackingScope, number>();
let scopes = 0;

/** The fieldsV1 of an object's creator. */
export interface CreatorFields {
  readonly fields: FieldSet;
  /** The JSON of `fields`. Undefined if it is not cached. */
  readonly json: string | undefined;
}

/** Returns the result of `workOut` for a new object, or the cached one of another object of the same structure. */
export function ownedByCreator(scope: TrackingScope, object: KubeObject, workOut: () => FieldSet): CreatorFields {
  const build = new Build(`${numberOf(scope)} `);
  if (!build.add(object, false)) return { fields: workOut(), json: undefined };
  const known = sets.get(build.text);
  if (known !== undefined) return known;
  const fields = workOut();
  const made = { fields, json: JSON.stringify(fields) };
  sets.set(build.text, made);
  return made;
}

function numberOf(scope: TrackingScope): number {
  let number = scopeNumbers.get(scope);
  if (number === undefined) {
    number = ++scopes;
    scopeNumbers.set(scope, number);
  }
  return number;
}

/**
 * The structure of an object: all that ownership depends on. Contains the names of members, which values are zero, and
 * the scalars in list items, which may be keys. Names and values include their length, so different structures have
 * different texts.
 */
class Build {
  text: string;

  constructor(start: string) {
    this.text = start;
  }

  /** Returns false if the structure is too large to be cached. */
  add(value: Json | undefined, isInItem: boolean): boolean {
    if (typeof value !== "object") this.#addScalar(value, isInItem);
    else if (value === null) this.text += "n";
    else if (Array.isArray(value)) {
      this.text += "[";
      for (const item of value) if (!this.add(item, true)) return false;
      this.text += "]";
    } else if (isObject(value)) {
      this.text += "{";
      for (const name in value) {
        const member = value[name];
        this.text += `${name.length}:${name}`;
        if (!this.add(member, isInItem && typeof member !== "object")) return false;
      }
      this.text += "}";
    } else this.text += `${JSON.stringify(value)};`;
    return this.text.length <= MAX_BUILD;
  }

  #addScalar(value: string | number | boolean | undefined, isInItem: boolean): void {
    if (value === undefined) this.text += "u";
    else if (!isInItem) this.text += value ? "s" : "z";
    else this.text += typeof value === "string" ? `"${value.length}:${value}` : `${value};`;
  }
}
