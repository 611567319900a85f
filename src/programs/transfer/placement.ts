import { groupOf, isObject, type KubeObject } from "../../base/api/object.ts";
import type { PlacedKind } from "../../resources/model/keys.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { Entry } from "../../storage/store.ts";
import type { ObjectKinds } from "../server/object-kinds.ts";

/** Thrown if an object of a dump cannot be stored. */
export class PlacementError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PlacementError";
  }
}

/** Where an object of a dump is stored. */
export type Placed =
  | { readonly type: "entry"; readonly entry: Entry; readonly namespace: string }
  /** Objects of this kind are not stored: the server computes them. */
  | { readonly type: "computed" }
  /** The kind is not known so far. */
  | { readonly type: "unknown" };

const DEFINITION = { kind: "CustomResourceDefinition", group: "apiextensions." };

/**
 * Determines the store entries of the objects of a dump: of built-in kinds, and of kinds whose
 * CustomResourceDefinitions it has seen.
 */
export class Placement {
  readonly #kinds: ObjectKinds;
  readonly #custom = new Map<string, PlacedKind>();

  constructor(kinds: ObjectKinds) {
    this.#kinds = kinds;
  }

  /** The store entry of an object as returned by a server. Throws PlacementError. */
  place(object: KubeObject): Placed {
    const { apiVersion, kind } = object;
    const found = this.#kinds.catalog.findKind(apiVersion, kind);
    const group = groupOf(apiVersion);
    const placed = found?.definition ?? this.#custom.get(`${group}/${kind}`);
    if (placed === undefined) return { type: "unknown" };
    if (found && found.definition.storage === undefined) return { type: "computed" };
    if (kind === DEFINITION.kind && group.startsWith(DEFINITION.group)) this.#learn(object);
    const { keys, codec } = this.#kinds;
    const { name = "", namespace = "", resourceVersion } = object.metadata;
    requireName(object, "name", name);
    const isNamespaced = placed.scope === "Namespaced";
    if (isNamespaced) requireName(object, "namespace", namespace);
    const revision = Number(resourceVersion);
    const modRevision = Number.isSafeInteger(revision) && revision > 0 ? revision : 1;
    const value = codec.write(found ? this.#decode(object) : object);
    const entry = { key: keys.key(placed, { namespace, name }), value, createRevision: modRevision, modRevision };
    return { type: "entry", entry, namespace: isNamespaced ? namespace : "" };
  }

  /** Converts to the stored form: fields in the order of the type, without unknown fields. */
  #decode(object: KubeObject): KubeObject {
    const found = this.#kinds.catalog.findKind(object.apiVersion, object.kind);
    if (!found) return object;
    const { value, error } = strategyOf(found.definition).decode(object, found.version.schema());
    if (error !== undefined) throw new PlacementError(`${nameOf(object)} does not match its kind: ${error}`);
    return value as KubeObject;
  }

  #learn(definition: KubeObject): void {
    const { spec } = definition;
    const { group, names, scope } = isObject(spec) ? spec : {};
    const { kind, plural } = isObject(names) ? names : {};
    if (typeof group !== "string" || typeof kind !== "string" || typeof plural !== "string") return;
    const isCluster = scope === "Cluster";
    const storage = { prefix: `${group}/${plural}` };
    this.#custom.set(`${group}/${kind}`, { plural, scope: isCluster ? "Cluster" : "Namespaced", storage });
  }
}

/** The name of an object in messages, e.g. "ConfigMap shop/settings". */
export function nameOf({ kind, metadata }: KubeObject): string {
  const { namespace, name = "" } = metadata;
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function requireName(object: KubeObject, member: string, value: unknown): void {
  // A name with a slash would end up under another key.
  if (typeof value === "string" && value !== "" && !value.includes("/") && value !== "." && value !== "..") return;
  throw new PlacementError(`${nameOf(object)} has no valid metadata.${member}`);
}
