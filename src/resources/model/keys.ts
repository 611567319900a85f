import type { ResourceDefinition } from "./definition.ts";

/** Names one object of a kind. The namespace is empty for kinds without one. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** Maps objects to keys of the store, in the layout of kube-apiserver. */
export class KeySpace {
  /** Everything of all kinds lies below this; ends with a slash. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = `/${prefix.replace(/^\/+|\/+$/g, "")}/`;
  }

  /** The prefix of all objects of a kind, or of those in one namespace. Ends with a slash. */
  prefix(definition: ResourceDefinition, namespace = ""): string {
    const base = `${this.root}${definition.storage?.prefix ?? definition.plural}/`;
    return namespace === "" ? base : `${base}${namespace}/`;
  }

  key(definition: ResourceDefinition, { namespace, name }: ObjectKey): string {
    return this.prefix(definition, definition.scope === "Namespaced" ? namespace : "") + name;
  }

  /** The object a key of this kind names. */
  parse(definition: ResourceDefinition, key: string): ObjectKey {
    const rest = key.slice(this.prefix(definition).length);
    if (definition.scope === "Cluster") return { namespace: "", name: rest };
    const slash = rest.indexOf("/");
    return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
  }
}
