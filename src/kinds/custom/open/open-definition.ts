import type { Schema } from "../../../data/schema/schema.ts";
import type { ResourceDefinition, Subresource, Verb } from "../../../resources/model/definition.ts";
import { withObjectMembers } from "../../../resources/strategies/object-members.ts";
import { SCALE, STATUS, storageVersionHash } from "../../built-in/row.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import { printerColumns } from "../printer-columns.ts";
import type { OpenRecord } from "./open-record.ts";

/** In the order of discovery of custom resources. */
const VERBS: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const ANYTHING: Schema = { type: "object", preserveUnknownFields: true };

/** Paths of the built-in workloads. */
const SCALE_PATHS = {
  specReplicas: ".spec.replicas",
  statusReplicas: ".status.replicas",
  selector: ".status.selector",
} as const;

const SUBRESOURCES: Readonly<Record<string, Subresource>> = {
  status: STATUS,
  scale: { ...SCALE, scale: SCALE_PATHS },
};

let known: Schema | undefined;
const schema = (): Schema => {
  known ??= withObjectMembers(ANYTHING, builtInSchema(OBJECT_META));
  return known;
};

/**
 * A resource without a definition: its objects are stored as sent, under the keys that kube-apiserver uses for
 * CustomResourceDefinitions. So a definition that is created later finds them.
 */
export function openDefinition({ group, plural, kind, scope, versions }: OpenRecord): ResourceDefinition {
  const [stored = ""] = versions;
  const columns = printerColumns([]);
  const reversed = group.split(".").reverse().join(".");
  return {
    group,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    scope,
    verbs: VERBS,
    reading: "open",
    versions: versions.map((name) => ({
      name,
      schema,
      schemaName: `${reversed}.${name}.${kind}`,
      table: { columns },
    })),
    storage: { version: stored, prefix: `${group}/${plural}`, hash: storageVersionHash(group, stored, kind) },
    subresources: SUBRESOURCES,
    // Without a definition, clients may write without a resourceVersion, and created objects keep the sent status.
    rules: { generation: "counted", statusKeepsMetadata: true, createKeepsStatus: true },
    presence: { isEstablished: true, establishedMs: 0, isShared: false, isTerminating: false },
  };
}

/** A resource without any objects yet, for reads: an empty list or a watch. */
export function unknownDefinition(path: Omit<OpenRecord, "kind">): ResourceDefinition {
  return { ...openDefinition({ ...path, kind: "CustomObject" }), listKind: "List" };
}
