import { groupOf, isObject, type KubeObject } from "../api/object.ts";
import type { PlacedKind } from "../resources/model/keys.ts";
import { strategyOf } from "../resources/strategies/strategy-of.ts";
import type { ObjectKinds } from "../server/object-kinds.ts";
import type { Entry } from "../storage/store.ts";

/** An object of a dump that cannot be stored, and why. */
export class PlacementError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PlacementError";
  }
}

/** What becomes of an object of a dump. */
export type Placed =
  | { readonly type: "entry"; readonly entry: Entry; readonly namespace: string }
  /** Nothing is stored of its kind: the server computes its objects. */
  | { readonly type: "computed" }
  /** Nobody has told of its kind so far. */
  | { readonly type: "unknown" };

const DEFINITION = { kind: "CustomResourceDefinition", group: "apiextensions." };

/**
 * Finds out where and as what the objects of a dump are stored: built-in kinds, and those whose CustomResourceDefinitions
 * it has seen.
 */
export class Placement {
  readonly #kinds: ObjectKinds;
  readonly #custom = new Map<string, PlacedKind>();

  constructor(kinds: ObjectKinds) {
    this.#kinds = kinds;
  }

  /** The entry that a store has for an object as a server shows it. Throws PlacementError. */
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

  /** In the form in which it is stored: members in the order of the type, and nothing that the type does not know. */
  #decode(object: KubeObject): KubeObject {
    const found = this.#kinds.catalog.findKind(object.apiVersion, object.kind);
    if (!found) return object;
    const { value, error } = strategyOf(found.definition).decode(object, found.version.schema());
    if (error !== undefined) throw new PlacementError(`${nameOf(object)} is not what its kind says: ${error}`);
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

/** How an object is called in messages, e.g. "ConfigMap shop/settings". */
export function nameOf({ kind, metadata }: KubeObject): string {
  const { namespace, name = "" } = metadata;
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

function requireName(object: KubeObject, member: string, value: unknown): void {
  // What has a slash would be stored as something else.
  if (typeof value === "string" && value !== "" && !value.includes("/") && value !== "." && value !== "..") return;
  throw new PlacementError(`${nameOf(object)} has no metadata.${member} that an object may have`);
}
