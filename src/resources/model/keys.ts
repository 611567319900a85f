import { trimRight } from "../../lib/trim-right.ts";

/** Names one object of a kind. The namespace is empty for kinds without one. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** What decides where the objects of a kind lie; every ResourceDefinition says it. */
export interface PlacedKind {
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly storage?: { readonly prefix: string };
}

/** Maps objects to keys of the store, in the layout of kube-apiserver. */
export class KeySpace {
  /** Everything of all kinds lies below this; ends with a slash. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = `/${trimRight(prefix.replace(/^\/+/, ""), "/")}/`;
  }

  /** The prefix of all objects of a kind, or of those in one namespace. Ends with a slash. */
  prefix(kind: PlacedKind, namespace = ""): string {
    const base = `${this.root}${kind.storage?.prefix ?? kind.plural}/`;
    return namespace === "" ? base : `${base}${namespace}/`;
  }

  key(kind: PlacedKind, { namespace, name }: ObjectKey): string {
    return this.prefix(kind, kind.scope === "Namespaced" ? namespace : "") + name;
  }

  /** The object a key of this kind names. */
  parse(kind: PlacedKind, key: string): ObjectKey {
    const rest = key.slice(this.prefix(kind).length);
    if (kind.scope === "Cluster") return { namespace: "", name: rest };
    const slash = rest.indexOf("/");
    return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
  }
}
