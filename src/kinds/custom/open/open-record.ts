import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";

/** Properties of a resource without a definition, learned from its objects. */
export interface OpenRecord {
  readonly group: string;
  readonly plural: string;
  /** The kind of the first object. */
  readonly kind: string;
  /** From the path of the first object. */
  readonly scope: "Namespaced" | "Cluster";
  /** Versions in which objects were created. The first one is the stored version. */
  readonly versions: readonly string[];
  /** The user that created the first object. Undefined: it counts towards no user's limit. */
  readonly creator?: string | undefined;
  /** Namespace of the first object. Undefined: cluster-scoped, or written by an older release. */
  readonly namespace?: string | undefined;
}

/**
 * Key prefix of the records, below the root of all keys. Groups of custom kinds contain a dot and no built-in kind has
 * this name, so these keys are not used otherwise.
 */
export const OPEN_RECORDS = "binnacle/open-resources/";

/**
 * Where objects are set aside whose resource is now defined with another kind or scope. They are not served any more. The
 * rest of the key is group, plural name, revision, namespace and name.
 */
export const SET_ASIDE = "binnacle/set-aside/";

/** Key of the record of a resource, below the root of all keys. */
export function recordPlace(group: string, plural: string): string {
  return `${OPEN_RECORDS}${group}/${plural}`;
}

/** The stored form of a record. */
export function storedRecord({ group, plural, kind, scope, versions, creator, namespace }: OpenRecord): KubeObject {
  return {
    kind: "OpenResource",
    apiVersion: "binnacle/v1",
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, plural, kind, scope, versions: [...versions] },
      ...(creator !== undefined && { creator }),
      ...(namespace !== undefined && { namespace }),
    },
  };
}

/** Decodes a stored record; undefined if it is malformed. */
export function readRecord({ spec }: KubeObject): OpenRecord | undefined {
  if (!isObject(spec)) return undefined;
  const { group, plural, kind, scope, versions } = spec;
  if (typeof group !== "string" || typeof plural !== "string" || typeof kind !== "string") return undefined;
  if (!Array.isArray(versions) || (scope !== "Namespaced" && scope !== "Cluster")) return undefined;
  const names = versions.filter((name) => typeof name === "string");
  if (names.length === 0) return undefined;
  return {
    group,
    plural,
    kind,
    scope,
    versions: names,
    creator: textOf(spec.creator),
    namespace: textOf(spec.namespace),
  };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
