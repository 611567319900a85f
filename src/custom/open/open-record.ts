import { isObject, type KubeObject } from "../../api/object.ts";

/** What is known of a resource that nobody defined, by the objects that it has had. */
export interface OpenRecord {
  readonly group: string;
  readonly plural: string;
  /** As the first object called it. */
  readonly kind: string;
  /** By the path of the first object. */
  readonly scope: "Namespaced" | "Cluster";
  /** Those in which objects were created, the first one first: that is the one they are stored in. */
  readonly versions: readonly string[];
}

/**
 * Where the records are, below the root of all keys. Groups of custom kinds have a dot in their name and no built-in kind is
 * called so, so that these keys are nobody else's.
 */
export const OPEN_RECORDS = "binnacle/open-resources/";

/** Where the record of a resource is, below the root of all keys. */
export function recordPlace(group: string, plural: string): string {
  return `${OPEN_RECORDS}${group}/${plural}`;
}

/** A record as it is stored. */
export function storedRecord({ group, plural, kind, scope, versions }: OpenRecord): KubeObject {
  return {
    kind: "OpenResource",
    apiVersion: "binnacle/v1",
    metadata: { name: `${plural}.${group}` },
    spec: { group, plural, kind, scope, versions: [...versions] },
  };
}

/** The record that is stored; undefined when it is none. */
export function readRecord({ spec }: KubeObject): OpenRecord | undefined {
  if (!isObject(spec)) return undefined;
  const { group, plural, kind, scope, versions } = spec;
  if (typeof group !== "string" || typeof plural !== "string" || typeof kind !== "string") return undefined;
  if (!Array.isArray(versions) || (scope !== "Namespaced" && scope !== "Cluster")) return undefined;
  const names = versions.filter((name) => typeof name === "string");
  return names.length === 0 ? undefined : { group, plural, kind, scope, versions: names };
}
