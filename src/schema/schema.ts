import type { FieldError } from "../api/field-error.ts";
import type { Json } from "../api/object.ts";

/** The JSON type of a value. Absent on a schema: any value will do. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** A kind in a version of its group, as published next to a schema. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Where the value of a field stands in protobuf. Fields without it are not part of the binary form. */
export interface ProtoField {
  readonly number: number;
  /** Numbers of the embedded messages that hold the field, outermost first, although JSON has no such level. */
  readonly within?: readonly number[];
}

/** Shapes whose binary form does not follow from their fields. The codec has a function for each. */
export type WireForm =
  | "quantity"
  | "int-or-string"
  | "time"
  | "micro-time"
  | "duration"
  /** Any JSON, kept as its own bytes in field 1. */
  | "raw-json"
  /** A list in JSON, a message with the list as field 1 in protobuf. */
  | "wrapped-list"
  | "schema-or-bool"
  | "schema-or-array"
  | "schema-or-string-array";

/** One alternative of a union: fields of which at most one may be set. */
export interface Union {
  readonly discriminator?: string;
  /** Field name to the value that the discriminator has when the field is set. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A rule in the expression language, as custom resources carry them. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Checks of single values; only custom resources have them. */
export interface ValueChecks {
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly validations?: readonly ValidationRule[];
}

/**
 * The shape of one value. References are already resolved: the node of a field holds the facts of its shape together
 * with those of the field, and `properties`, `items` and `values` open the next level when they are first read, so a
 * shape may contain itself. Nodes are shared and never change.
 */
export interface Schema extends ValueChecks {
  /** The named shape that this node is, or refers to. Two nodes with the same component have the same fields. */
  readonly component?: string;
  readonly type?: SchemaType;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly title?: string;
  readonly example?: Json;
  readonly externalDocs?: Json;

  /** Fields of an object, in the order in which they are written. */
  readonly properties?: ReadonlyMap<string, Schema>;
  readonly required?: readonly string[];
  /** Shape of the members of a map. True: members of any shape. */
  readonly values?: Schema | true;
  /** Validation refuses members that are not fields: `additionalProperties: false`. */
  readonly forbidsOthers?: boolean;
  /** Shape of the items of a list. */
  readonly items?: Schema;

  readonly enum?: readonly Json[];
  readonly default?: Json;
  /**
   * How the typed original treats the zero value. "omitted": zero and absent are the same and not written. "written":
   * they are the same and zero is written (an empty object, "", 0, false; null for lists and maps). Absent: they differ.
   */
  readonly zero?: "omitted" | "written";

  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  /** Strategic merge: "merge", "replace", "retainKeys". */
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  readonly unions?: readonly Union[];

  readonly intOrString?: boolean;
  readonly preserveUnknownFields?: boolean;
  /** The value is itself an object with apiVersion, kind and metadata. */
  readonly embeddedResource?: boolean;

  /**
   * On the schema of whole custom objects: what their definition says, of metadata too, by which they are pruned and
   * validated. This node describes the metadata as ObjectMeta.
   */
  readonly declared?: {
    readonly schema: Schema;
    readonly traits: SchemaTraits;
    /** x-kubernetes-validations; absent where there are none. */
    readonly rules?: RuleCheck;
  };

  readonly groupVersionKinds?: readonly GroupVersionKind[];
  readonly proto?: ProtoField;
  readonly wire?: WireForm;
}

/** The rules of a schema. */
export interface RuleCheck {
  /** Compiles them, giving way to others now and then. Undefined: that has been done. */
  prepare(): Promise<void> | undefined;
  /** What they say about an object, and the one that it replaces. What did not change is warned of only. */
  check(next: Json, previous: Json | undefined, warn: (text: string) => void): FieldError[];
}

/** What is true of a schema somewhere: what it does not have need not be looked for in values. */
export interface SchemaTraits {
  readonly hasEmbedded: boolean;
  /** Lists of type set or map. */
  readonly hasKeyedLists: boolean;
  /** x-kubernetes-validations. */
  readonly hasRules: boolean;
}

/** Finds a named shape; undefined when there is none of that name. */
export type SchemaSource = (component: string) => Schema | undefined;
