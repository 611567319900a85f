import { Double, intOf, isInt, MapValue, Uint, type Value } from "./value.ts";

/** What a key is looked up by: numbers that are equal are one key, whatever their type. */
export function lookupKey(key: Value): string | number | bigint | boolean | undefined {
  if (typeof key === "string" || typeof key === "boolean" || isInt(key)) return key;
  if (key instanceof Uint) return intOf(key.value);
  if (key instanceof Double && Number.isInteger(key.value)) return intOf(BigInt(key.value));
  return undefined;
}

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

/** A map of entries that an expression has made. */
export class EntryMap extends MapValue {
  private readonly entries = new Map<string | number | bigint | boolean, Entry>();
  private isOpen: boolean;

  /** With `isOpen`, additions of a fold go into this very map until it is sealed. */
  constructor(isOpen = false) {
    super();
    this.isOpen = isOpen;
  }

  get size(): number {
    return this.entries.size;
  }

  find(key: Value): Value | undefined {
    const name = lookupKey(key);
    return name === undefined ? undefined : this.entries.get(name)?.value;
  }

  *keys(): Iterable<Value> {
    for (const { key } of this.entries.values()) yield key;
  }

  /** Adds or replaces an entry while the map is being built; false if the key has no type of a key. */
  set(key: Value, value: Value): boolean {
    const name = lookupKey(key);
    if (name === undefined) return false;
    this.entries.set(name, { key, value });
    return true;
  }

  /** Takes an entry out while the map is being built. */
  delete(key: Value): void {
    const name = lookupKey(key);
    if (name !== undefined) this.entries.delete(name);
  }

  /** Ends the additions of a fold. */
  seal(): void {
    this.isOpen = false;
  }

  /** A map with the same entries, for further additions; this one itself while it is open. */
  growing(): EntryMap {
    if (this.isOpen) return this;
    const result = new EntryMap();
    for (const [name, entry] of this.entries) result.entries.set(name, entry);
    return result;
  }

  /** The map of a JavaScript Map or of pairs. */
  static of(pairs: Iterable<readonly [Value, Value]>): EntryMap {
    const result = new EntryMap();
    for (const [key, value] of pairs) result.set(key, value);
    return result;
  }
}
