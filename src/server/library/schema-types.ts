/** A part of an OpenAPI v3 schema, as CustomResourceDefinitions have it. */
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

/** Members that are always there: required ones, and those with a default. */
type Present<S extends KindSchema> =
  | (S["required"] extends readonly (infer Name)[] ? Name : never)
  | {
      [Name in keyof S["properties"]]: S["properties"][Name] extends { readonly default: unknown } ? Name : never;
    }[keyof S["properties"]];

type Members<S extends KindSchema, Properties = NonNullable<S["properties"]>> = {
  -readonly [Name in keyof Properties as Name extends Present<S> ? Name : never]: TypeOf<Properties[Name]>;
} & {
  -readonly [Name in keyof Properties as Name extends Present<S> ? never : Name]?: TypeOf<Properties[Name]>;
};

/** The TypeScript type of the values that a schema describes, once defaults are filled in. */
export type TypeOf<S> = S extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : S extends { readonly "x-kubernetes-int-or-string": true }
    ? number | string
    : S extends { readonly type: "string" }
      ? string
      : S extends { readonly type: "integer" | "number" }
        ? number
        : S extends { readonly type: "boolean" }
          ? boolean
          : S extends { readonly type: "array"; readonly items: infer Item }
            ? TypeOf<Item>[]
            : S extends { readonly properties: object } & KindSchema
              ? { [Name in keyof Members<S>]: Members<S>[Name] }
              : S extends { readonly additionalProperties: infer Value }
                ? Record<string, TypeOf<Value>>
                : S extends { readonly type: "object" }
                  ? Record<string, unknown>
                  : unknown;
