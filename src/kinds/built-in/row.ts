import { createHash } from "node:crypto";
import { MAX_SMALL_OBJECT_BYTES } from "../../base/api/body-limits.ts";
import type { Column } from "../../base/api/columns.ts";
import type { TableShape } from "../../base/api/reply.ts";
import type {
  ActionNames,
  Deprecation,
  ResourceDefinition,
  ResourceHooks,
  ResourceRules,
  SelectableField,
  ServedVersion,
  Subresource,
  Verb,
} from "../../resources/model/definition.ts";
import { builtInSchema } from "../schema-files/built-in-schemas.ts";
import { scaleTable } from "./autoscaling/scale-table.ts";
import { DEFAULT_TABLE, readText } from "./cells.ts";
import { type Defaults, defaultsOf } from "./shared-rules/defaults.ts";

/** Differences of a version from its row. */
export interface VersionRow {
  readonly name: string;
  readonly columns?: readonly Column[];
  readonly deprecation?: Deprecation;
  readonly requiresResourceVersion?: boolean;
  readonly deleteReturnsObject?: boolean;
  readonly noShardSelector?: boolean;
}

/** Where and how objects of a kind are stored in etcd, if not as by default. */
export interface StorageRow {
  readonly version?: string;
  readonly group?: string;
  readonly prefix?: string;
  /** The version of `storageVersionHash`, if it is not the stored one. */
  readonly hashVersion?: string;
}

/** A built-in kind, without values that follow from others or equal the default. */
export interface Row {
  readonly kind: string;
  readonly plural: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: Namespaced. */
  readonly scope?: "Cluster";
  /** Default: all eight. */
  readonly verbs?: readonly Verb[];
  /** Preferred first. */
  readonly versions: readonly (string | VersionRow)[];
  /** Default: the first version, with the plural as prefix. */
  readonly storage?: StorageRow | "none";
  readonly subresources?: Readonly<Record<string, Subresource>>;
  /** Default: Name and Created At; no columns if the resource cannot be listed. */
  readonly columns?: readonly Column[];
  readonly table?: Omit<TableShape, "columns">;
  readonly selectableFields?: readonly SelectableField[];
  readonly rules?: ResourceRules;
  /** Default values by path, the same in all versions. Set before the hook for defaults runs. */
  readonly defaults?: Defaults;
  /** Names of its actions beyond storage; `kinds/built-in/actions/all.ts` has the functions. */
  readonly actions?: ActionNames;
  readonly hooks?: ResourceHooks;
}

/** An API group: its name, and the package name of its published schemas. */
export interface GroupName {
  readonly group: string;
  readonly schemaPackage: string;
  /** See `ResourceDefinition`. */
  readonly isAddOn?: true;
}

/** All verbs, sorted, as most resources have them. */
export const ALL_VERBS: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];
const READ_WRITE: readonly Verb[] = ["get", "patch", "update"];

/** The subresource status. */
export const STATUS: Subresource = { verbs: READ_WRITE, writes: "status" };
/** The subresource scale. */
export const SCALE: Subresource = {
  verbs: READ_WRITE,
  kind: {
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    schema: () => builtInSchema("io.k8s.api.autoscaling.v1.Scale"),
    table: scaleTable,
  },
  scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".spec.selector" },
  maxBodyBytes: MAX_SMALL_OBJECT_BYTES,
};
/** A subresource with its own handler. */
export const PART: Subresource = { verbs: READ_WRITE };
/** Response of every kind with selectable fields to an unknown field selector. */
export const FIELD_LABEL_NOT_SUPPORTED = "field label not supported: %s";

/** A field selector whose value is read at its own path, or at another one; `fallback` replaces a missing value. */
export function selectable(name: string, path = `.${name}`, fallback = ""): SelectableField {
  return { name, value: (object) => readText(object, path, fallback) };
}

/** `storageVersionHash` of discovery: a hash of the group, version and kind that are stored. */
export function storageVersionHash(group: string, version: string, kind: string): string {
  const digest = createHash("sha256").update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString("base64");
}

/** A version that is deprecated since the release `since` and no longer served in `removed`. */
export function deprecatedVersion(name: string, since: string, removed: string, replacement?: string): VersionRow {
  return { name, deprecation: { since, removed, replacement } };
}

/** The definitions of the kinds of one group. */
export function defineKinds(name: GroupName, rows: readonly Row[]): ResourceDefinition[] {
  return rows.map((row) => defineKind(name, row));
}

function defineKind({ group, schemaPackage, isAddOn }: GroupName, row: Row): ResourceDefinition {
  const versions = row.versions.map((version) => (typeof version === "string" ? { name: version } : version));
  const definition = {
    group,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.singular ?? row.kind.toLowerCase(),
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    scope: row.scope ?? "Namespaced",
    verbs: row.verbs ?? ALL_VERBS,
    reading: "typed",
    versions: versions.map((version) => serveVersion(row, version, `${schemaPackage}.${version.name}.${row.kind}`)),
    subresources: row.subresources ?? {},
    rules: { nameRule: "dns1123Subdomain", ...row.rules },
    ...(row.actions && { actions: row.actions }),
    ...(isAddOn && { isAddOn }),
    hooks: hooksOf(row, schemaPackage),
  } satisfies ResourceDefinition;
  if (row.storage === "none") return definition;
  const storageGroup = row.storage?.group ?? group;
  const version = row.storage?.version ?? versions[0]?.name ?? "";
  const hash = storageVersionHash(storageGroup, row.storage?.hashVersion ?? version, row.kind);
  const storage = { version, group: row.storage?.group, prefix: row.storage?.prefix ?? row.plural, hash };
  return { ...definition, storage };
}

function hooksOf({ kind, defaults, hooks }: Row, schemaPackage: string): ResourceHooks | undefined {
  if (!defaults) return hooks;
  const filled = new Map<string, ReturnType<typeof defaultsOf>>();
  const further = hooks?.setDefaults;
  return {
    ...hooks,
    setDefaults(object, apiVersion, context) {
      const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
      const fill = filled.get(version) ?? defaultsOf(defaults, builtInSchema(`${schemaPackage}.${version}.${kind}`));
      filled.set(version, fill);
      fill(object);
      further?.(object, apiVersion, context);
    },
  };
}

function serveVersion(row: Row, version: VersionRow, schemaName: string): ServedVersion {
  const columns = version.columns ?? row.columns ?? DEFAULT_TABLE.columns;
  const isListed = (row.verbs ?? ALL_VERBS).includes("list");
  return {
    name: version.name,
    schemaName,
    schema: () => builtInSchema(schemaName),
    table: isListed ? { ...row.table, columns } : undefined,
    selectableFields: row.selectableFields,
    deprecation: version.deprecation,
    requiresResourceVersion: version.requiresResourceVersion,
    deleteReturnsObject: version.deleteReturnsObject,
    noShardSelector: version.noShardSelector,
  };
}
