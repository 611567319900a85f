import { SCALE, STATUS, storageVersionHash } from "../../kinds/row.ts";
import type { ResourceDefinition, Subresource, Verb } from "../../resources/model/definition.ts";
import { withObjectMembers } from "../../resources/strategies/object-members.ts";
import type { Schema } from "../../schema/schema.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";
import { printerColumns } from "../printer-columns.ts";
import type { OpenRecord } from "./open-record.ts";

/** In the order in which discovery lists those of custom resources. */
const VERBS: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const ANYTHING: Schema = { type: "object", preserveUnknownFields: true };

/** Where workloads of Kubernetes itself have them. */
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
 * A resource that nobody defined: its objects are kept as they are sent, at the keys where kube-apiserver keeps those of a
 * CustomResourceDefinition, so that one that comes later finds them.
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
    // Whoever has no definition to look at may write without knowing of versions, and what they create is what they sent.
    rules: { generation: "counted", statusKeepsMetadata: true, createKeepsStatus: true },
    presence: { isEstablished: true, establishedMs: 0, isShared: false, isTerminating: false },
  };
}

/** A resource of which nothing is known, for those who read before there is anything: an empty list, or a watch. */
export function unknownDefinition(path: Omit<OpenRecord, "kind">): ResourceDefinition {
  return { ...openDefinition({ ...path, kind: "CustomObject" }), listKind: "List" };
}
