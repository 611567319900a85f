import { FeatureGates } from "../api/feature-gates.ts";
import { apiVersionOf, type KubeObject } from "../api/object.ts";
import type { SchemaOf } from "../encoding/protobuf/envelope.ts";
import { schemaLookup } from "../encoding/protobuf/schema-lookup.ts";
import { builtInKinds } from "../kinds/all.ts";
import type { Clock } from "../lib/clock.ts";
import { Catalog } from "../resources/model/catalog.ts";
import { KeySpace } from "../resources/model/keys.ts";
import { ObjectCodec } from "../resources/model/object-codec.ts";
import { findBuiltInSchema } from "../schema-files/built-in-schemas.ts";
import type { Config } from "./config.ts";

/** The options that decide which kinds are built in, and where their objects are kept. */
export type KindOptions = Pick<Config, "apiDomain" | "eventTtlMs" | "featureGates" | "etcdPrefix">;

/** The kinds that are built in, and how their objects are stored. */
export interface ObjectKinds {
  readonly catalog: Catalog;
  readonly keys: KeySpace;
  readonly codec: ObjectCodec;
  readonly features: FeatureGates;
  /** The shapes by which bytes are read. */
  readonly schemaOf: SchemaOf;
}

/** Everything of ours in the store lies below its root. */
export function keySpaceOf({ etcdPrefix }: Pick<Config, "etcdPrefix">): KeySpace {
  return new KeySpace(etcdPrefix);
}

/** Builds the built-in kinds, without a store. */
export function objectKinds(options: KindOptions, clock: Clock): ObjectKinds {
  const features = new FeatureGates(options.featureGates);
  const catalog = new Catalog(builtInKinds(options.apiDomain, Math.ceil(options.eventTtlMs / 1000)));
  const schemaOf = schemasOf(catalog);
  const setDefaults = (object: KubeObject) => {
    const { apiVersion, kind } = object;
    catalog.findKind(apiVersion, kind)?.definition.hooks?.setDefaults?.(object, apiVersion, { clock, features });
  };
  const codec = new ObjectCodec({ schemaOf, setDefaults });
  return { catalog, keys: keySpaceOf(options), codec, features, schemaOf };
}

/** The shapes of built-in kinds, found by what a body or a stored value says it is. */
function schemasOf(catalog: Catalog): SchemaOf {
  const kinds = catalog.definitions.flatMap(({ group, versions }) =>
    versions.map(({ name, schemaName }) => ({ apiVersion: apiVersionOf(group, name), schemaName })),
  );
  return schemaLookup(kinds, findBuiltInSchema);
}
