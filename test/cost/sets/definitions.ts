import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../../fuzz/random.ts";
import { costlyExpression, type Sources } from "./expressions.ts";
import { type CostlyField, costlyFields, upTo } from "./fields.ts";

export const GROUP = "sets.example.com";

/** A definition whose objects may cost much, and what is needed to write them. */
export interface CostlyDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly fields: ReadonlyMap<string, CostlyField>;
  readonly hasStatus: boolean;
  readonly selectable: readonly string[];
  /** The versions, the stored one first. */
  readonly versions: readonly string[];
  /** The body with a part of the rules: an estimate may reject some. */
  body(share: number): JsonObject;
}

/** What sets are mostly about. */
export type Focus = "schema" | "rules" | "policies" | "mutations" | "columns" | "webhooks" | "selectors";
export const FOCUSES: readonly Focus[] = [
  ...["schema", "rules", "policies", "mutations", "columns", "webhooks", "selectors"].map((name) => name as Focus),
];

/** A random definition. */
export function costlyDefinition(random: Random, number: number, focus: Focus): CostlyDefinition {
  const fields = costlyFields(random);
  const versions = random.chance(0.4) ? ["v1", "v2"] : ["v1"];
  const hasStatus = random.chance(0.5);
  const plural = `set${number}s`;
  const kind = `Set${number}`;
  const rules = new Map([...fields].map(([name, field]) => [name, rulesOf(random, field, focus)]));
  const columns = versions.map(() => columnsOf(random, [...fields.keys()], focus));
  const selectable = focus === "selectors" || random.chance(0.1) ? ["name", "size"] : [];
  const version = (share: number) => (name: string, index: number) => ({
    name,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema: schemaOf(fields, rules, share) },
    additionalPrinterColumns: columns[index] as JsonObject[],
    ...(hasStatus && { subresources: { status: {} } }),
    ...(selectable.length > 0 && { selectableFields: selectable.map((one) => ({ jsonPath: `.spec.${one}` })) }),
  });
  const body = (share: number): JsonObject => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names: { plural, kind }, versions: versions.map(version(share)) },
  });
  return { kind, plural, fields, hasStatus, selectable, versions, body };
}

function schemaOf(
  fields: ReadonlyMap<string, CostlyField>,
  rules: ReadonlyMap<string, readonly JsonObject[]>,
  share: number,
): JsonObject {
  const properties: JsonObject = { name: { type: "string" }, size: { type: "integer" } };
  for (const [name, { schema }] of fields) {
    const own = rules.get(name) ?? [];
    const kept = own.slice(0, Math.ceil(own.length * share));
    properties[name] = kept.length === 0 ? schema : { ...schema, "x-kubernetes-validations": kept };
  }
  const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return { type: "object", properties: { spec: { type: "object", properties }, status } };
}

/** What rules know about the fields that have them. */
const RULE_SOURCES: Readonly<Partial<Record<CostlyField["type"], Sources>>> = {
  string: { texts: ["self"], lists: ["self.split('')", "[self]"], anything: ["self"] },
  "list<string>": { texts: ["self[0]", "self[self.size() - 1]"], lists: ["self"], anything: ["self"] },
};

function rulesOf(random: Random, { type }: CostlyField, focus: Focus): JsonObject[] {
  const sources = RULE_SOURCES[type];
  if (sources === undefined || !random.chance(focus === "rules" ? 1 : 0.15)) return [];
  return Array.from({ length: upTo(random, 8) }, () => ({
    rule: costlyExpression(random, sources),
    ...(random.chance(0.2) && { messageExpression: `string(${random.pick(sources.texts)})` }),
  }));
}

const STEPS = ["..a", "..b", ".a[*]", ".a[*].b.a", ".a[?(@.a==1)].b", ".a[?(@.b)]..a", "[*]", ".*", ".a[0:9]", ".a"];

function columnsOf(random: Random, names: readonly string[], focus: Focus): JsonObject[] {
  const count = focus === "columns" ? upTo(random, 100) : random.below(4);
  const isSame = random.chance(0.5);
  const one = () => {
    const start = random.pick([".spec", ".spec.free", ".spec.free", `.spec.${random.pick(names)}`, ".metadata", ""]);
    return start + Array.from({ length: random.below(4) }, () => random.pick(STEPS)).join("");
  };
  const shared = one();
  return Array.from({ length: count }, (_, index) => ({
    name: `c${index}`,
    type: random.pick(["string", "string", "integer", "date", "boolean"]),
    jsonPath: (isSame ? shared : one()) || ".spec",
  }));
}
