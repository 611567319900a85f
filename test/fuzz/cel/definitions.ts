import type { Json, JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";
import { FILLER_PROPERTIES, FILLER_RULES } from "./costs.ts";
import { damage } from "./damage.ts";
import { ExpressionMaker, type Variable } from "./expressions.ts";
import { objectOf, type Part } from "./schemas.ts";
import { type CelType, parseType } from "./types.ts";

/** The group of the kinds whose rules are random. */
export const GROUP = "cel.example.com";

/** A rule, and the place in the schema where it stands. */
export interface PlacedRule {
  readonly place: Place;
  readonly rule: JsonObject;
}

/** A schema below `spec` that may have rules, and the end of its path in messages. */
interface Place {
  readonly path: string;
  readonly type: CelType;
}

/** A kind whose objects have a random `spec` with random rules. */
export interface CelDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly rules: readonly PlacedRule[];
  readonly spec: Part;
  /** Whether all rules stand at the spec, so that the sum of their costs can be compared. */
  readonly isMeasured: boolean;
}

/** A definition with up to so many rules. */
export function randomDefinition(random: Random, number: string, count: number): CelDefinition {
  const spec = objectOf(random, 2, 12);
  const isMeasured = random.chance(0.7);
  const places = isMeasured
    ? [{ path: "properties[spec]", type: spec.type }]
    : placesOf(spec.schema, spec.type, "properties[spec]");
  const rules = Array.from({ length: count }, () => {
    const place = random.pick(places);
    return { place, rule: randomRule(random, place.type) };
  });
  return { kind: `Cel${number}`, plural: `cel${number}s`, rules, spec, isMeasured };
}

function placesOf(schema: JsonObject, type: CelType, path: string): Place[] {
  const below: Place[] = [{ path, type }];
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  const types = [...(type.fields?.values() ?? [])];
  for (const [index, [name, property]] of Object.entries(properties).entries()) {
    const field = types[index];
    if (field) below.push(...placesOf(property, field, `${path}.properties[${name}]`));
  }
  const { items, additionalProperties } = schema as { items?: JsonObject; additionalProperties?: JsonObject };
  if (items) below.push(...placesOf(items, type.args[0] as CelType, `${path}.items`));
  if (additionalProperties)
    below.push(...placesOf(additionalProperties, type.args[1] as CelType, `${path}.additionalProperties`));
  return below;
}

const REASONS = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

function randomRule(random: Random, self: CelType): JsonObject {
  const isOptional = random.chance(0.1);
  const old: CelType = isOptional ? { name: "optional", args: [self] } : self;
  const variables: Variable[] = [
    { name: "self", type: self },
    ...(random.chance(0.2) ? [{ name: "oldSelf", type: old }] : []),
  ];
  const fate = random.next();
  const make = (type: string) => {
    const wrong = fate < 0.25 ? 0.06 : 0;
    const text = new ExpressionMaker(random, variables, wrong).of(parseType(type), 1 + random.below(4));
    return fate > 0.25 && fate < 0.35 ? damage(random, text) : text;
  };
  const isShown = random.chance(0.4);
  const names = [...(self.fields?.keys() ?? [])];
  const field = names.length > 0 ? random.pick(names) : undefined;
  return {
    rule: isShown && random.chance(0.7) ? "false" : make("bool"),
    ...(isShown && { messageExpression: random.chance(0.15) ? make("string") : shown(random, make) }),
    ...(isOptional && { optionalOldSelf: true }),
    ...(random.chance(0.1) && { message: random.pick(["must hold", " padded ", "two\nlines", ""]) }),
    ...(random.chance(0.1) && { reason: random.pick(REASONS) }),
    ...(field !== undefined &&
      random.chance(0.08) && { fieldPath: random.pick([`.${field}`, `['${field}']`, ".nothing", `.${field}.a`]) }),
  };
}

const SHOWN = [
  "int",
  "uint",
  "double",
  "string",
  "bool",
  "list<int>",
  "list<string>",
  "list<double>",
  "map<string,int>",
  "duration",
  "timestamp",
  "type",
  "bytes",
  "dyn",
  "list<timestamp>",
  "optional<int>",
  "ip",
  "quantity",
  "list<$a>",
];

const shown = (random: Random, make: (type: string) => string): string =>
  `'%s'.format([${make(random.pick(SHOWN).replace("$a", random.pick(["bool", "uint", "bytes", "duration", "list<int>"])))}])`;

/** The body of the definition: version v1 has no rules, so that every object can be stored; v2 has those given. */
export function bodyOf({ kind, plural, spec, isMeasured }: CelDefinition, rules: readonly PlacedRule[]): JsonObject {
  const filled = isMeasured
    ? { ...spec.schema, properties: { ...(spec.schema.properties as JsonObject), ...FILLER_PROPERTIES } }
    : spec.schema;
  const placed = new Map<string, JsonObject[]>();
  for (const { place, rule } of rules) placed.set(place.path, [...(placed.get(place.path) ?? []), rule]);
  if (isMeasured) placed.set("properties[spec]", [...(placed.get("properties[spec]") ?? []), ...FILLER_RULES]);
  const version = (name: string, schema: Json) => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: { type: "object", properties: { spec: schema } } },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [version("v1", filled), version("v2", withRules(filled, placed, "properties[spec]"))],
    },
  };
}

function withRules(schema: JsonObject, placed: ReadonlyMap<string, JsonObject[]>, path: string): JsonObject {
  const { properties, items, additionalProperties } = schema as Record<string, JsonObject | undefined>;
  const rules = placed.get(path);
  const of = (part: Json | undefined, name: string) => withRules(part as JsonObject, placed, `${path}.${name}`);
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, of(part, `properties[${name}]`)]),
      ),
    }),
    ...(items && { items: of(items, "items") }),
    ...(additionalProperties && { additionalProperties: of(additionalProperties, "additionalProperties") }),
    ...(rules && { "x-kubernetes-validations": rules }),
  };
}
