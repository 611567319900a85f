/** An OpenAPI v3 schema, as in CustomResourceDefinitions. */
export interface KindSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly properties?: Readonly<Record<string, KindSchema>>;
  readonly required?: readonly string[];
  readonly items?: KindSchema;
  readonly additionalProperties?: boolean | KindSchema;
  readonly enum?: readonly (string | number | boolean)[];
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string; readonly message?: string }[];
}

type Properties<S> = S extends { readonly properties: infer Members } ? Members : never;

type WithDefault<S> = {
  [Name in keyof Properties<S>]: Properties<S>[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Properties<S>];

type Listed<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Members that always have a value after defaulting: required ones, and those with a default. */
type Present<S> = Listed<S> | WithDefault<S>;
/** Members that a client has to send: required ones without a default. */
type Demanded<S> = Exclude<Listed<S>, WithDefault<S>>;

type Flat<T> = { [Name in keyof T]: T[Name] };

/** The TypeScript type of the values of a schema, after defaulting. */
export type TypeOf<S> = S extends { readonly type: "array"; readonly items: infer Item }
  ? TypeOf<Item>[]
  : S extends { readonly properties: object }
    ? Flat<
        {
          -readonly [Name in keyof Properties<S> as Name extends Present<S> ? Name : never]: TypeOf<
            Properties<S>[Name]
          >;
        } & {
          -readonly [Name in keyof Properties<S> as Name extends Present<S> ? never : Name]?: TypeOf<
            Properties<S>[Name]
          >;
        }
      >
    : S extends { readonly additionalProperties: infer Value extends KindSchema }
      ? Record<string, TypeOf<Value>>
      : ScalarOf<S>;

/** The TypeScript type of what clients may send for a schema: members with a default are optional. */
export type InputOf<S> = S extends { readonly type: "array"; readonly items: infer Item }
  ? readonly InputOf<Item>[]
  : S extends { readonly properties: object }
    ? Flat<
        {
          readonly [Name in keyof Properties<S> as Name extends Demanded<S> ? Name : never]: InputOf<
            Properties<S>[Name]
          >;
        } & {
          readonly [Name in keyof Properties<S> as Name extends Demanded<S> ? never : Name]?: InputOf<
            Properties<S>[Name]
          >;
        }
      >
    : S extends { readonly additionalProperties: infer Value extends KindSchema }
      ? Readonly<Record<string, InputOf<Value>>>
      : ScalarOf<S>;

/** The type of a schema without members or items. */
type ScalarOf<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly "x-kubernetes-int-or-string": true }
    ? number | string
    : S extends { readonly type: "string" }
      ? string
      : S extends { readonly type: "integer" | "number" }
        ? number
        : S extends { readonly type: "boolean" }
          ? boolean
          : S extends { readonly type: "object" }
            ? Record<string, unknown>
            : unknown;
