import { apiVersionOf, type JsonObject } from "../../base/api/object.ts";
import { compareVersions } from "../../base/api/version-order.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { propsInside, structuralSchema } from "../../data/schema/structural-schema.ts";
import type { ResourceDefinition, ServedVersion, Subresource, Verb } from "../../resources/model/definition.ts";
import { type Pause, pacer, visitInSteps } from "../../resources/pace.ts";
import { withObjectMembers } from "../../resources/strategies/object-members.ts";
import { FIELD_LABEL_NOT_SUPPORTED, SCALE, STATUS, selectable, storageVersionHash } from "../built-in/row.ts";
import { builtInSchema } from "../schema-files/built-in-schemas.ts";
import type {
  CustomResourceDefinition,
  DefinitionVersion,
  JsonSchemaProps,
} from "../types/custom-resource-definition.ts";
import { printerColumns } from "./printer-columns.ts";

/** Compat: the `verbs` of an APIResource in the order of the DiscoveryController. */
const VERBS: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

const OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/**
 * The kind of a CustomResourceDefinition, with its accepted names. `schemaOf` returns the openAPIV3Schema of a version,
 * by index; `presence` has the current conditions of the definition.
 */
export function resourceDefinition(
  { spec = {}, status = {} }: CustomResourceDefinition,
  schemaOf: (index: number) => JsonSchemaProps,
  presence: Pick<ResourceDefinition, "presence" | "hooks">,
): ResourceDefinition {
  const { group = "", scope, versions = [] } = spec;
  const {
    kind = "",
    listKind = "",
    plural = "",
    singular = "",
    shortNames = [],
    categories = [],
  } = status.acceptedNames ?? {};
  const storage = versions.find((version) => version.storage)?.name ?? "";
  const known = versions.map((version, index) =>
    servedVersion(version, versions, { group, kind, schema: () => schemaOf(index) }),
  );
  return {
    group,
    kind,
    listKind,
    plural,
    singular,
    shortNames,
    categories,
    scope: scope === "Cluster" ? "Cluster" : "Namespaced",
    verbs: VERBS,
    reading: "structural",
    versions: known.filter((_, index) => versions[index]?.served),
    unservedVersions: known.filter((_, index) => !versions[index]?.served),
    storage: {
      version: storage,
      prefix: `${group}/${spec.names?.plural ?? plural}`,
      hash: storageVersionHash(group, storage, kind),
    },
    subresources: {},
    rules: {
      generation: "counted",
      requiresResourceVersion: true,
      statusKeepsMetadata: true,
      freeFinalizers: true,
      unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
    },
    ...presence,
  };
}

interface Place {
  readonly group: string;
  readonly kind: string;
  schema(): JsonSchemaProps;
}

function servedVersion(version: DefinitionVersion, all: readonly DefinitionVersion[], place: Place): ServedVersion {
  const { group, kind } = place;
  const { name = "", additionalPrinterColumns = [], selectableFields = [], deprecated } = version;
  let known: Schema | undefined;
  let building: Promise<void> | undefined;
  const build = async (): Promise<void> => {
    try {
      known ??= await schemaInSteps(place, pacer());
    } finally {
      building = undefined;
    }
  };
  return {
    name,
    schema: () => {
      known ??= complete(structuralSchema(place.schema()));
      return known;
    },
    prepareSchema: () => {
      if (known !== undefined) return undefined;
      building ??= build();
      return building;
    },
    schemaForOnce: async (pause) => known ?? schemaInSteps(place, pause),
    schemaName: `${group.split(".").reverse().join(".")}.${name}.${kind}`,
    table: { columns: printerColumns(additionalPrinterColumns) },
    selectableFields: selectableFields.map(({ jsonPath = "" }) => selectable(jsonPath.replace(/^\./, ""), jsonPath)),
    ...(deprecated && { deprecation: { message: deprecationWarning(version, all, place) } }),
    subresources: subresourcesOf(version),
  };
}

const complete = (schema: Schema): Schema => withObjectMembers(schema, builtInSchema(OBJECT_META));

async function schemaInSteps(place: Place, pause: Pause): Promise<Schema> {
  const props = place.schema();
  const built = new Map<JsonObject, Schema>();
  await visitInSteps<JsonObject>(props, propsInside, (one) => built.set(one, structuralSchema(one, built)), pause);
  await pause();
  return complete(built.get(props) ?? {});
}

/** Upstream: `defaultDeprecationWarning`, which names the newest served version that is not deprecated. */
function deprecationWarning(version: DefinitionVersion, all: readonly DefinitionVersion[], place: Place): string {
  const { name = "", deprecationWarning } = version;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const { group, kind } = place;
  const newer = all
    .filter((one) => one.served && !one.deprecated && compareVersions(one.name ?? "", name) < 0)
    .map((one) => one.name ?? "")
    .sort(compareVersions)[0];
  const text = `${apiVersionOf(group, name)} ${kind} is deprecated`;
  return newer === undefined ? text : `${text}; use ${apiVersionOf(group, newer)} ${kind}`;
}

function subresourcesOf({ subresources }: DefinitionVersion): Readonly<Record<string, Subresource>> {
  const { status, scale } = subresources ?? {};
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale ?? {};
  const paths = {
    specReplicas: specReplicasPath,
    statusReplicas: statusReplicasPath,
    ...(labelSelectorPath !== "" && { selector: labelSelectorPath }),
  };
  return {
    ...(status && { status: STATUS }),
    ...(scale && { scale: { ...SCALE, scale: paths } }),
  };
}
