import { fc } from "../../../../../test/support/random.ts";
import type { Json, JsonObject } from "../../../../base/api/object.ts";
import { canonicalQuantity, QuantityError } from "../../../../base/api/quantity.ts";
import { ExactInteger } from "../../../../base/util/exact-integer.ts";
import { randomObject, randomSource } from "../../../../data/encoding/protobuf/random-object.suite.ts";
import { decodeBySchema } from "../../../../data/schema/decode.ts";
import type { Schema } from "../../../../data/schema/schema.ts";
import { objectsOf } from "../../../../kinds/built-in/random-objects.suite.ts";
import { builtInSchema } from "../../../../kinds/schema-files/built-in-schemas.ts";

const SCHEMA = builtInSchema("io.k8s.api.core.v1.PodTemplateSpec");

/** A Pod template as the server stores it. */
export function storedTemplate(template: Json): JsonObject {
  const { value, error } = decodeBySchema(template, SCHEMA);
  if (error !== undefined) throw new Error(error);
  return value;
}

const SAMPLES: Readonly<Record<string, readonly Json[]>> = {
  quantity: ["3", "96Mi"],
  time: ["2024-01-02T03:04:05Z", "1970-01-01T00:00:00Z"],
  "int-or-string": [8080, "http"],
  "raw-json": [{ "f:a": {} }],
  boolean: [true],
  string: ["naïve ☃ 𝄞"],
  integer: [7],
};

/** Values in which one field after another is set, besides those that lead to it. */
function* valuesOf(schema: Schema): Generator<Json> {
  const { items, values, properties } = schema;
  if (schema.wire !== undefined) yield* SAMPLES[schema.wire] ?? [{}];
  else if (items !== undefined) for (const item of valuesOf(items)) yield [item, item];
  else if (values !== undefined && values !== true) for (const value of valuesOf(values)) yield { b: value, a: value };
  else if (properties === undefined) yield* SAMPLES[schema.type ?? ""] ?? [{}];
  else {
    yield {};
    for (const [name, field] of properties) for (const value of valuesOf(field)) yield { [name]: value };
  }
}

/** Pod templates that together contain every field. */
export const templatesOfEachField = (): JsonObject[] => [...valuesOf(SCHEMA)].map(storedTemplate);

/** Random Pod templates: small and deep ones, and ones with unusual texts and numbers. */
export function randomTemplates(count: number): JsonObject[] {
  const odd = fc.integer().map((seed) => storedTemplate(randomObject(SCHEMA, randomSource(seed))));
  const deep = objectsOf("io.k8s.api.core.v1.PodTemplate", "v1").map(({ template }) => template as JsonObject);
  return [...fc.sample(odd, count), ...fc.sample(deep, count)];
}

const DIGITS = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 24 });
const SUFFIXES = [
  "",
  "n",
  "u",
  "m",
  "k",
  "M",
  "G",
  "T",
  "P",
  "E",
  "Ki",
  "Mi",
  "Gi",
  "Ti",
  "Pi",
  "Ei",
  "e3",
  "E-2",
  "e21",
];
const QUANTITY = fc
  .tuple(fc.constantFrom("", "-", "+"), DIGITS, fc.constantFrom("", "."), DIGITS, fc.constantFrom(...SUFFIXES))
  .map((parts) => parts.join(""))
  .filter(isQuantity);

function isQuantity(text: string): boolean {
  try {
    return canonicalQuantity(canonicalQuantity(text)) !== "";
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

const EXACT = ["9223372036854775807", "-9223372036854775808", "9007199254740993"].map(
  (digits) => new ExactInteger(digits) as unknown as Json,
);

/** Pod templates with random quantities, and with integers that a double cannot represent. */
export function templatesOfNumbers(count: number): JsonObject[] {
  const quantities = fc.sample(fc.array(QUANTITY, { minLength: 3, maxLength: 9 }), count);
  return quantities.map(([sizeLimit = "0", divisor = "0", ...others], index) =>
    storedTemplate({
      spec: {
        containers: [
          {
            name: "a",
            resources: { limits: Object.fromEntries(others.map((text, at) => [`r${at}`, text])) },
            env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor } } }],
          },
        ],
        volumes: [{ name: "v", emptyDir: { sizeLimit } }],
        terminationGracePeriodSeconds: EXACT[index % EXACT.length] ?? 0,
      },
    }),
  );
}
