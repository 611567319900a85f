import { trimRight } from "../../base/util/trim-right.ts";

/** Identifies an object of a kind. The namespace is empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** The part of a ResourceDefinition that determines the store keys of its objects. */
export interface PlacedKind {
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly storage?: { readonly prefix: string };
}

/** Maps objects to store keys, in kube-apiserver's layout. */
export class KeySpace {
  /** Prefix of all keys. Ends with a slash. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = `/${trimRight(prefix.replace(/^\/+/, ""), "/")}/`;
  }

  /** The key prefix of a kind's objects, or of those in one namespace. Ends with a slash. */
  prefix(kind: PlacedKind, namespace = ""): string {
    const base = `${this.root}${kind.storage?.prefix ?? kind.plural}/`;
    return namespace === "" ? base : `${base}${namespace}/`;
  }

  key(kind: PlacedKind, { namespace, name }: ObjectKey): string {
    return this.prefix(kind, kind.scope === "Namespaced" ? namespace : "") + name;
  }

  /** The object that a key of this kind identifies. */
  parse(kind: PlacedKind, key: string): ObjectKey {
    const rest = key.slice(this.prefix(kind).length);
    if (kind.scope === "Cluster") return { namespace: "", name: rest };
    const slash = rest.indexOf("/");
    return { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
  }
}
