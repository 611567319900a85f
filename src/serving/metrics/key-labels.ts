import type { Catalog } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { KeySpace } from "../../resources/model/keys.ts";

/** The kind of a store key, as metric labels. All keys of a kind share one object. */
export interface KindLabels {
  readonly group: string;
  readonly resource: string;
}

const NO_KIND: KindLabels = { group: "", resource: "" };

/** Finds the kind of a store key by its first one or two segments. Keys of unknown kinds have empty labels. */
export class KeyLabels {
  readonly #catalog: Pick<Catalog, "definitions">;
  readonly #keys: KeySpace;
  #known: readonly ResourceDefinition[] | undefined;
  #byPrefix = new Map<string, KindLabels>();

  constructor(catalog: Pick<Catalog, "definitions">, keys: KeySpace) {
    this.#catalog = catalog;
    this.#keys = keys;
  }

  of(key: string): KindLabels {
    const start = this.#keys.root.length;
    const first = key.indexOf("/", start);
    if (first === -1) return NO_KIND;
    const kinds = this.#kinds();
    const second = key.indexOf("/", first + 1);
    return (
      kinds.get(key.slice(start, first)) ?? (second === -1 ? undefined : kinds.get(key.slice(start, second))) ?? NO_KIND
    );
  }

  /** All stored kinds, each once, with the key prefix of their objects. */
  *all(): Generator<{ readonly labels: KindLabels; readonly prefix: string }> {
    for (const [path, labels] of this.#kinds()) yield { labels, prefix: `${this.#keys.root}${path}/` };
  }

  #kinds(): ReadonlyMap<string, KindLabels> {
    const { definitions } = this.#catalog;
    if (definitions === this.#known) return this.#byPrefix;
    this.#known = definitions;
    const start = this.#keys.root.length;
    this.#byPrefix = new Map();
    for (const definition of definitions) {
      const path = this.#keys.prefix(definition).slice(start, -1);
      const isStored = definition.verbs.includes("get");
      if (isStored && !this.#byPrefix.has(path)) {
        this.#byPrefix.set(path, { group: definition.group, resource: definition.plural });
      }
    }
    return this.#byPrefix;
  }
}
