import { Double, intOf, isInt, MapValue, requireHashable, Uint, type Value } from "./value.ts";

/** The lookup name of a key that is not a string or int. Undefined for keys that are never found. */
function nameOf(key: Value): string | undefined {
  if (typeof key === "boolean" || key === null) return String(key);
  if (key instanceof Uint) return `uint ${key.value}`;
  return key instanceof Double && !Number.isNaN(key.value) ? `double ${key.value}` : undefined;
}

/** The int that equals a number. Undefined if there is none. */
export function integerOf(key: Value): number | bigint | undefined {
  if (isInt(key)) return key;
  if (key instanceof Uint) return intOf(key.value);
  return key instanceof Double && Number.isInteger(key.value) ? intOf(BigInt(key.value)) : undefined;
}

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

/** A map created by an expression. Numbers of different types are different keys, but a lookup finds equal ones. */
export class EntryMap extends MapValue {
  private readonly texts = new Map<string, Value>();
  private readonly ints = new Map<number | bigint, Value>();
  private readonly others = new Map<string | symbol, Entry>();
  private isOpen: boolean;

  /** With `isOpen`, a comprehension adds entries to this map in place until it is sealed. */
  constructor(isOpen = false) {
    super();
    this.isOpen = isOpen;
  }

  get size(): number {
    return this.texts.size + this.ints.size + this.others.size;
  }

  find(key: Value): Value | undefined {
    if (typeof key === "string") return this.texts.get(key);
    if (this.size === 0) return undefined;
    requireHashable(key);
    const exact = isInt(key) ? this.ints.get(key) : this.findExact(key);
    return exact === undefined ? this.findEqual(key) : exact;
  }

  private findExact(key: Value): Value | undefined {
    const name = nameOf(key);
    if (name !== undefined) return this.others.get(name)?.value;
    for (const entry of this.others.values()) if (entry.key === key) return entry.value;
    return undefined;
  }

  /** The value of an equal number of another type. */
  private findEqual(key: Value): Value | undefined {
    const integer = integerOf(key);
    if (integer === undefined) return undefined;
    const found = this.ints.get(integer);
    if (found !== undefined || this.others.size === 0) return found;
    return (this.others.get(`uint ${integer}`) ?? this.others.get(`double ${integer}`))?.value;
  }

  *keys(): Iterable<Value> {
    yield* this.texts.keys();
    yield* this.ints.keys();
    for (const { key } of this.others.values()) yield key;
  }

  /** Adds or replaces an entry while the map is being built. */
  set(key: Value, value: Value): void {
    if (typeof key === "string") this.texts.set(key, value);
    else if (isInt(key)) this.ints.set(key, value);
    else this.setOther(key, value);
  }

  private setOther(key: Value, value: Value): void {
    requireHashable(key);
    this.others.set(nameOf(key) ?? Symbol(), { key, value });
  }

  /** Removes an entry while the map is being built. */
  delete(key: Value): void {
    if (typeof key === "string") this.texts.delete(key);
    else if (isInt(key)) this.ints.delete(key);
    else this.others.delete(nameOf(key) ?? Symbol());
  }

  /** Ends in-place additions. */
  seal(): void {
    this.isOpen = false;
  }

  /** A map with the same entries for further additions. This map itself while it is open. */
  growing(): EntryMap {
    return this.isOpen ? this : EntryMap.of([...this.keys()].map((key) => [key, this.find(key) as Value]));
  }

  /** Creates a map from pairs. */
  static of(pairs: Iterable<readonly [Value, Value]>): EntryMap {
    const result = new EntryMap();
    for (const [key, value] of pairs) result.set(key, value);
    return result;
  }
}
