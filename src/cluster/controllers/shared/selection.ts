import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { Index, type ObjectIndex } from "./informer.ts";

type Labels = Readonly<Record<string, string | undefined>>;

const pairKey = (namespace: string, key: string, value: string) => JSON.stringify([namespace, key, value]);

/** Finds the objects that a selector matches. Costs the objects with the rarest of the labels that it requires. */
export class LabelIndex<T extends KubeObject> implements ObjectIndex<T> {
  readonly #byPair = new Index<T>(({ metadata: { namespace = "", labels = {} } }) =>
    Object.entries(labels).map(([key, value]) => pairKey(namespace, key, value)),
  );
  readonly #byNamespace = new Index<T>(({ metadata: { namespace = "" } }) => [namespace]);

  change(before: T | undefined, after: T | undefined): void {
    this.#byPair.change(before, after);
    this.#byNamespace.change(before, after);
  }

  clear(): void {
    this.#byPair.clear();
    this.#byNamespace.clear();
  }

  /** The objects of a namespace that the selector matches. */
  select(namespace: string, selector: LabelSelector): T[] {
    const found: T[] = [];
    for (const object of this.#candidates(namespace, selector)) {
      if (matchesLabels(selector, object.metadata.labels)) found.push(object);
    }
    return found;
  }

  #candidates(namespace: string, selector: LabelSelector): Iterable<T> {
    let rarest: string | undefined;
    for (const [key, value] of requiredLabels(selector)) {
      const pair = pairKey(namespace, key, value);
      if (rarest === undefined || this.#byPair.count(pair) < this.#byPair.count(rarest)) rarest = pair;
    }
    return rarest === undefined ? this.#byNamespace.get(namespace) : this.#byPair.get(rarest);
  }
}

/** A set of label names that selectors require. */
interface NameSet {
  readonly names: readonly string[];
  /** How many selectors require exactly these. */
  users: number;
}

/**
 * Finds the objects whose selector matches given labels. Selectors with the same label names are found by the values,
 * so that a search costs the matching objects and the number of different sets of names in the namespace.
 */
export class SelectorIndex<T extends Pick<KubeObject, "metadata">> implements ObjectIndex<T> {
  readonly #selectorOf: (object: T) => LabelSelector | undefined;
  readonly #byValues: Index<T>;
  readonly #nameSets = new Map<string, Map<string, NameSet>>();

  /** `selectorOf`: undefined if the object selects nothing. */
  constructor(selectorOf: (object: T) => LabelSelector | undefined) {
    this.#selectorOf = selectorOf;
    this.#byValues = new Index<T>((object) => {
      const required = this.#requiredBy(object);
      return required === undefined ? [] : [valuesKey(object.metadata.namespace, required)];
    });
  }

  /** The objects of a namespace whose selector matches the labels. */
  *matching(namespace: string, labels: Labels = {}): Generator<T> {
    for (const { names } of this.#nameSets.get(namespace)?.values() ?? []) {
      const pairs: [string, string][] = [];
      for (const name of names) {
        const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
        if (value === undefined) break;
        pairs.push([name, value]);
      }
      if (pairs.length < names.length) continue;
      for (const object of this.#byValues.get(valuesKey(namespace, pairs))) {
        const selector = this.#selectorOf(object);
        if (selector && matchesLabels(selector, labels)) yield object;
      }
    }
  }

  change(before: T | undefined, after: T | undefined): void {
    this.#byValues.change(before, after);
    if (after) this.#count(after, 1);
    if (before) this.#count(before, -1);
  }

  clear(): void {
    this.#byValues.clear();
    this.#nameSets.clear();
  }

  #requiredBy(object: T): [string, string][] | undefined {
    const selector = this.#selectorOf(object);
    return selector && requiredLabels(selector);
  }

  #count(object: T, change: number): void {
    const names = this.#requiredBy(object)?.map(([name]) => name);
    if (names === undefined) return;
    const { namespace = "" } = object.metadata;
    const sets = this.#nameSets.get(namespace) ?? new Map<string, NameSet>();
    this.#nameSets.set(namespace, sets);
    const key = JSON.stringify(names);
    const known = sets.get(key) ?? { names, users: 0 };
    known.users += change;
    if (known.users > 0) sets.set(key, known);
    else sets.delete(key);
    if (sets.size === 0) this.#nameSets.delete(namespace);
  }
}

const valuesKey = (namespace: string | undefined, required: readonly [string, string][]) =>
  JSON.stringify([namespace ?? "", required]);

/** The labels that a selector requires with one value, sorted by name. */
function requiredLabels(selector: LabelSelector): [string, string][] {
  const required: [string, string][] = [];
  for (const { key, operator, values } of selector) {
    const [value] = values;
    const isEquality = operator === "=" || operator === "==" || (operator === "in" && values.length === 1);
    if (isEquality && value !== undefined) required.push([key, value]);
  }
  return required.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}
