import type { FieldError } from "../../base/api/field-error.ts";
import type { Json } from "../../base/api/object.ts";

/** The JSON type of a value. If a schema omits it, any value is allowed. */
export type SchemaType = "object" | "array" | "string" | "integer" | "number" | "boolean";

/** A kind in a version of its group, as published next to a schema. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The protobuf field of a member. Members without it are not part of the protobuf message. */
export interface ProtoField {
  readonly number: number;
  /** Numbers of the embedded messages that contain the field, outermost first. JSON has no such level. */
  readonly within?: readonly number[];
}

/** Types whose protobuf message does not follow from their fields. The codec has a function for each. */
export type WireForm =
  | "quantity"
  | "int-or-string"
  | "time"
  | "micro-time"
  | "duration"
  /** Any JSON, stored as bytes in field 1. */
  | "raw-json"
  /** A list in JSON, a message with the list as field 1 in protobuf. */
  | "wrapped-list"
  | "schema-or-bool"
  | "schema-or-array"
  | "schema-or-string-array";

/** A union: at most one of its fields may be set. */
export interface Union {
  readonly discriminator?: string;
  /** By field name, the value of the discriminator if the field is set. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A CEL validation rule of a custom resource. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Value validations. Only custom resources have them. */
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
 * The schema of one value, with references resolved. The node of a field combines the properties of its type with those
 * of the field. `properties`, `items` and `values` are built lazily, so a type may contain itself. Nodes are shared and
 * immutable.
 */
export interface Schema extends ValueChecks {
  /** The named type of this node. Nodes with the same component have the same fields. */
  readonly component?: string;
  readonly type?: SchemaType;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly title?: string;
  readonly example?: Json;
  readonly externalDocs?: Json;

  /** Fields of an object, in the order in which they are encoded. */
  readonly properties?: ReadonlyMap<string, Schema>;
  readonly required?: readonly string[];
  /** Schema of map values. True: values of any type. */
  readonly values?: Schema | true;
  /** Validation rejects undeclared members: `additionalProperties: false`. */
  readonly forbidsOthers?: boolean;
  /** Schema of list items. */
  readonly items?: Schema;

  readonly enum?: readonly Json[];
  readonly default?: Json;
  /**
   * How Go treats the zero value. "omitted": zero and omitted are the same and not encoded. "written": they are the
   * same and zero is encoded (an empty object, "", 0, false; null for lists and maps). Undefined: they differ.
   */
  readonly zero?: "omitted" | "written";

  readonly listType?: "atomic" | "set" | "map";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  /** Strategic merge patch strategies: "merge", "replace", "retainKeys". */
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  readonly unions?: readonly Union[];

  readonly intOrString?: boolean;
  readonly preserveUnknownFields?: boolean;
  /** The value is an object with apiVersion, kind and metadata. */
  readonly embeddedResource?: boolean;

  /**
   * On the root schema of custom objects: the declared schema including metadata, which pruning and validation use.
   * This node describes metadata as ObjectMeta.
   */
  readonly declared?: {
    readonly schema: Schema;
    readonly traits: SchemaTraits;
    /** x-kubernetes-validations. Omitted if there are none. */
    readonly rules?: RuleCheck;
  };

  readonly groupVersionKinds?: readonly GroupVersionKind[];
  readonly proto?: ProtoField;
  readonly wire?: WireForm;
}

/** The validation rules of a schema. */
export interface RuleCheck {
  /** Compiles the rules, yielding to other work. Undefined if they are already compiled. */
  prepare(): Promise<void> | undefined;
  /** Validates an object and the one that it replaces. Errors in unchanged parts are only reported as warnings. */
  check(next: Json, previous: Json | undefined, warn: (text: string) => void): FieldError[];
}

/** Whether a schema uses certain features anywhere, so that code for unused ones can be skipped. */
export interface SchemaTraits {
  readonly hasEmbedded: boolean;
  /** Lists of type set or map. */
  readonly hasKeyedLists: boolean;
  /** x-kubernetes-validations. */
  readonly hasRules: boolean;
}

/** Finds a named type. Undefined if it does not exist. */
export type SchemaSource = (component: string) => Schema | undefined;
