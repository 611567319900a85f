import { FeatureGates } from "../../base/api/feature-gates.ts";
import { apiVersionOf, type KubeObject } from "../../base/api/object.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { SchemaOf } from "../../data/encoding/protobuf/envelope.ts";
import { schemaLookup } from "../../data/encoding/protobuf/schema-lookup.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { findBuiltInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { ObjectCodec } from "../../resources/model/object-codec.ts";
import type { Config } from "./config.ts";

/** The options that determine the built-in kinds and their keys. */
export type KindOptions = Pick<Config, "apiDomain" | "eventTtlMs" | "featureGates" | "etcdPrefix"> &
  Partial<Pick<Config, "simulatedNodes">>;

/** The built-in kinds, and how their objects are stored. */
export interface ObjectKinds {
  readonly catalog: Catalog;
  readonly keys: KeySpace;
  readonly codec: ObjectCodec;
  readonly features: FeatureGates;
  /** Schemas for decoding. */
  readonly schemaOf: SchemaOf;
}

/** The key space of the store. All keys start with its root. */
export function keySpaceOf({ etcdPrefix }: Pick<Config, "etcdPrefix">): KeySpace {
  return new KeySpace(etcdPrefix);
}

/** Builds the built-in kinds, without a store. */
export function objectKinds(options: KindOptions, clock: Clock): ObjectKinds {
  const features = new FeatureGates(options.featureGates);
  const { apiDomain, eventTtlMs, simulatedNodes = 0 } = options;
  // Simulated nodes report metrics, which an add-on serves in other clusters.
  const catalog = new Catalog(builtInKinds(apiDomain, Math.ceil(eventTtlMs / 1000), simulatedNodes > 0));
  const schemaOf = schemasOf(catalog);
  const setDefaults = (object: KubeObject) => {
    const { apiVersion, kind } = object;
    catalog.findKind(apiVersion, kind)?.definition.hooks?.setDefaults?.(object, apiVersion, { clock, features });
  };
  const codec = new ObjectCodec({ schemaOf, setDefaults });
  return { catalog, keys: keySpaceOf(options), codec, features, schemaOf };
}

/** Finds the schema of a built-in kind by apiVersion and kind. */
function schemasOf(catalog: Catalog): SchemaOf {
  const kinds = catalog.definitions.flatMap(({ group, versions }) =>
    versions.map(({ name, schemaName }) => ({ apiVersion: apiVersionOf(group, name), schemaName })),
  );
  return schemaLookup(kinds, findBuiltInSchema);
}
