import { isObject, type Json, type KubeObject } from "../../api/object.ts";
import { BoundedMemo } from "../../lib/memoize.ts";
import type { FieldSet } from "./field-set.ts";
import type { TrackingScope } from "./scope.ts";

const MAX_BUILD = 8192;

/**
 * Objects are mostly created in great numbers from a few templates, and what their creator owns follows from which
 * fields they have. It is worked out once for all that are built alike.
 */
const sets = new BoundedMemo<string, CreatorFields>({ results: 500, textLength: MAX_BUILD });
// A number per scope, as part of the keys of `sets`. Scopes live as long as the kind is served.
const scopeNumbers = new WeakMap<TrackingScope, number>();
let scopes = 0;

/** The fieldsV1 of an object's creator. */
export interface CreatorFields {
  readonly fields: FieldSet;
  /** The JSON of `fields`. Undefined when it is not worth remembering. */
  readonly json: string | undefined;
}

/** What `workOut` makes of a new object, or what it made of another object built alike. */
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
 * All that ownership depends on: names of members, which values are zero, and in items of lists the scalars, which may
 * be what tells the items apart. Different builds never have the same text, since names and values come with their length.
 */
class Build {
  text: string;

  constructor(start: string) {
    this.text = start;
  }

  /** False when the build is too large to be worth remembering. */
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
