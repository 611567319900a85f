import { isObject, type JsonObject } from "../../src/base/api/object.ts";
import { SchemaMaker } from "./crd-schemas.ts";
import type { Random } from "./random.ts";

/** The group of all kinds that are made up here. */
export const GROUP = "fuzz.example.com";

/** A CustomResourceDefinition, and what is needed to write objects of it. */
export interface FuzzedDefinition {
  readonly body: JsonObject;
  readonly kind: string;
  readonly plural: string;
  readonly schema: JsonObject;
  readonly hasStatus: boolean;
  readonly hasScale: boolean;
}

/** A random definition of a kind with this number. */
export function randomDefinition(random: Random, number: string): FuzzedDefinition {
  const kind = `Fuzz${number}`;
  const plural = `fuzz${number}s`;
  const schema = new SchemaMaker(random, random.chance(0.3) ? 0.3 : 0).root();
  const hasStatus = random.chance(0.7);
  const hasScale = random.chance(0.15);
  const scale = {
    specReplicasPath: `.spec.${random.pick(["a", "size", "b.c"])}`,
    statusReplicasPath: ".status.a",
    ...(random.chance(0.5) && { labelSelectorPath: ".status.b" }),
  };
  const version: JsonObject = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...((hasStatus || hasScale) && { subresources: { ...(hasStatus && { status: {} }), ...(hasScale && { scale }) } }),
  };
  if (random.chance(0.4)) version.additionalPrinterColumns = columns(random);
  if (random.chance(0.15)) version.selectableFields = [{ jsonPath: `.spec.${random.pick(["a", "b", "name"])}` }];
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names: { plural, kind }, versions: [version] },
  };
  return { body, kind, plural, schema, hasStatus, hasScale };
}

const PATHS = [
  ".spec.a",
  ".spec.b",
  ".spec.name",
  ".spec.a[*].key",
  ".spec.a[0]",
  ".spec['size']",
  ".status.a",
  ".spec",
];

function columns(random: Random): JsonObject[] {
  return Array.from({ length: 1 + random.below(3) }, (_, index) => ({
    name: `C${index}`,
    type: random.pick(["string", "integer", "number", "boolean", "date"]),
    jsonPath: random.pick(PATHS),
    ...(random.chance(0.2) && { priority: 1 }),
    ...(random.chance(0.2) && { format: "int64" }),
  }));
}

/** The schema of a part of the object, such as its status. */
export function partOf(schema: JsonObject, name: string): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  return isObject(properties[name]) ? properties[name] : {};
}
