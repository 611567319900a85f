import type { Json } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { isWrittenAsNull } from "../../schema/go-names.ts";
import type { Schema } from "../../schema/schema.ts";
import { compareText, fieldElement, type PathElement } from "./path-element.ts";

/** The type of a scalar. "untyped": a string, number or boolean. */
export type ScalarShape = "numeric" | "string" | "boolean" | "untyped";

/** How a list is merged. Atomic: as one value. Otherwise by its keys, or as a set if it has none. */
export interface ListShape {
  readonly isAtomic: boolean;
  readonly keys: readonly string[];
  /** The same keys in canonical order. */
  readonly sortedKeys: readonly string[];
  readonly items: () => Shape;
}

/** How an object is merged. Atomic: as one value. Otherwise member by member. */
export interface MapShape {
  readonly isAtomic: boolean;
  readonly fields: () => ReadonlyMap<string, FieldShape>;
  /** Fields that always exist, with their zero value if not set. */
  readonly written: () => readonly FieldShape[];
  /** Shape of members that are not declared. Undefined: not allowed. */
  readonly values: () => Shape | undefined;
}

/** A declared field of an object. */
export interface FieldShape {
  readonly name: string;
  readonly element: PathElement;
  /** Its index among all fields of the object in canonical order. */
  readonly order: number;
  readonly shape: () => Shape;
  /** "pointer": null is the same as omitted. For the others see `Schema.zero`. Undefined: every value is kept. */
  readonly zero?: "omitted" | "written" | "pointer";
  readonly zeroValue: Json;
  /** Replaces an omitted field if it is part of a key. */
  readonly default?: Json;
}

/** What merging needs to know of a schema. If several members are set, the value decides. */
export interface Shape {
  readonly scalar?: ScalarShape;
  readonly list?: ListShape;
  readonly map?: MapShape;
}

const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const NO_FIELDS: ReadonlyMap<string, FieldShape> = new Map();

/** Content without a schema that is owned as a whole. */
const UNTYPED: Shape = {
  scalar: "untyped",
  list: { isAtomic: true, keys: [], sortedKeys: [], items: () => UNTYPED },
  map: { isAtomic: true, fields: () => NO_FIELDS, written: () => [], values: () => UNTYPED },
};

/** Content without a schema whose objects are owned member by member. */
export const DEDUCED: Shape = {
  scalar: "untyped",
  list: { isAtomic: true, keys: [], sortedKeys: [], items: () => UNTYPED },
  map: { isAtomic: false, fields: () => NO_FIELDS, written: () => [], values: () => DEDUCED },
};

const UNTYPED_SCALAR: Shape = { scalar: "untyped" };
const SCALARS: Readonly<Record<string, Shape>> = {
  integer: { scalar: "numeric" },
  number: { scalar: "numeric" },
  boolean: { scalar: "boolean" },
};
const STRING: Shape = { scalar: "string" };

const shapes = new WeakMap<Schema, Shape>();
const openShapes = new WeakMap<Schema, Shape>();

/** The shape of a schema. Cached. */
export function shapeOf(schema: Schema): Shape {
  return shapeIn(schema, false);
}

/** `isOpen`: an object above allows undeclared members, which also applies to everything below it. */
function shapeIn(schema: Schema, isOpen: boolean): Shape {
  // A named type does not depend on where it is used.
  const opened = schema.component === undefined && (isOpen || schema.preserveUnknownFields === true);
  const cache = opened ? openShapes : shapes;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const made = makeShape(schema, opened);
  cache.set(schema, made);
  return made;
}

function makeShape(schema: Schema, isOpen: boolean): Shape {
  if (schema.component === RAW_EXTENSION) return UNTYPED;
  switch (schema.wire) {
    case "quantity":
    case "int-or-string":
      return UNTYPED_SCALAR;
    case "raw-json":
    case "schema-or-bool":
    case "schema-or-array":
    case "schema-or-string-array":
      return DEDUCED;
    default:
  }
  switch (schema.type) {
    case "object":
      return { map: mapShape(schema, isOpen) };
    case "array":
      return { list: listShape(schema, isOpen) };
    case "string":
      return schema.format === undefined || schema.format === "byte" ? STRING : UNTYPED_SCALAR;
    case undefined:
      return { scalar: "untyped", list: listShape(schema, isOpen), map: mapShape(schema, isOpen) };
    default:
      return getMember(SCALARS, schema.type) ?? UNTYPED_SCALAR;
  }
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function mapShape(schema: Schema, isOpen: boolean): MapShape {
  const fields = lazily(() => {
    const { properties, component = "" } = schema;
    if (properties === undefined) return NO_FIELDS;
    const names = [...properties.keys()].sort(compareText);
    return new Map(
      names.map((name, order) => {
        const field = fieldShape(name, order, properties.get(name) ?? {}, isOpen);
        const shape = isWrittenAsNull(component, name)
          ? ({ ...field, zero: "written", zeroValue: null } as const)
          : field;
        return [name, shape] as const;
      }),
    );
  });
  return {
    isAtomic: schema.mapType === "atomic",
    fields,
    written: lazily(() => [...fields().values()].filter((field) => field.zero === "written")),
    values: lazily(() => {
      if (schema.values === true) return DEDUCED;
      if (schema.values !== undefined) return shapeIn(schema.values, isOpen);
      if (schema.forbidsOthers === true) return undefined;
      return isOpen || fields().size === 0 ? DEDUCED : undefined;
    }),
  };
}

function listShape(schema: Schema, isOpen: boolean): ListShape {
  const { items, listType, patchStrategy, patchMergeKey } = schema;
  const isMerged = listType === undefined && patchStrategy?.includes("merge") === true;
  const mergeKeys = isMerged && patchMergeKey !== undefined ? [patchMergeKey] : [];
  const keys = listType === "map" ? (schema.listMapKeys ?? []) : mergeKeys;
  return {
    isAtomic: listType === "atomic" || (listType === undefined && !isMerged),
    keys,
    sortedKeys: [...keys].sort(compareText),
    items: lazily(() => (items === undefined ? UNTYPED : shapeIn(items, isOpen))),
  };
}

function fieldShape(name: string, order: number, schema: Schema, isOpen: boolean): FieldShape {
  return {
    name,
    element: fieldElement(name),
    order,
    shape: lazily(() => shapeIn(schema, isOpen)),
    zero: schema.zero ?? (schema.proto === undefined ? undefined : "pointer"),
    zeroValue: zeroOf(schema),
    default: schema.default,
  };
}

const NO_MEMBERS: Json = Object.freeze({});

function zeroOf(schema: Schema): Json {
  if (schema.wire === "quantity") return "0";
  if (schema.wire === "int-or-string") return 0;
  if (schema.wire === "duration") return "0s";
  if (schema.wire !== undefined) return null;
  switch (schema.type) {
    case "object":
      return schema.values === undefined ? NO_MEMBERS : null;
    case "string":
      return schema.format === "byte" ? null : "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return null;
  }
}
