import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";

/** The only version of Thing. */
export const thingVersion = { name: "v1", schemaName: "Thing", schema: () => ({}) } as unknown as ServedVersion;

/** A minimal kind for tests of reads. */
export const thing = {
  group: "",
  kind: "Thing",
  plural: "things",
  scope: "Namespaced",
  reading: "typed",
  versions: [thingVersion],
  subresources: {},
  rules: {},
} as unknown as ResourceDefinition;
