import { type FieldError, forbiddenField, invalidField } from "../../../base/api/field-error.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { type Amount, product, sum } from "../../../data/cel/cost/sizes.ts";
import { newExpressions, storedExpressions } from "../../../data/cel/kubernetes/environment.ts";
import { structuralSchema } from "../../../data/schema/structural-schema.ts";
import { type CompiledRule, compileRules, maxCardinality } from "../../../resources/validation-rules/compile-rules.ts";
import { declaredType } from "../../../resources/validation-rules/declared-type.ts";
import type { JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import type { DefinitionOptions, StoredExpressions } from "./definition-options.ts";
import { goRule } from "./go-schema.ts";
import { asSchema, namedSchemas } from "./schema-walk.ts";

/** Upstream: `StaticEstimatedCostLimit`. */
const RULE_LIMIT = 10_000_000;
/** Upstream: `StaticEstimatedCRDCostLimit`. */
const SCHEMA_LIMIT = 100_000_000;

/** Context of a schema. Upstream: `CELSchemaContext`. */
interface Place {
  /** How often it occurs in an object at most; undefined if that is unbounded. */
  readonly cardinality: number | undefined;
  readonly isRoot: boolean;
  /** The list or map in which old and new values cannot be correlated. */
  readonly uncorrelated: string | undefined;
}

interface Expensive {
  readonly path: string;
  readonly cost: Amount;
}

/** Compiles the rules of schemas and adds up their estimated cost. */
export class RuleErrors {
  readonly #places = new Map<JsonSchemaProps, Place>();
  readonly #path: string;
  readonly #stored: StoredExpressions;
  readonly #mayCostMore: boolean;
  #total: Amount = 0;
  #expensive: Expensive[] = [];

  constructor(root: JsonSchemaProps, path: string, options: DefinitionOptions, version: string) {
    this.#path = path;
    this.#stored = options.storedExpressions;
    this.#mayCostMore = options.keepsSchema(version);
    this.#visit(root, path, { cardinality: 1, isRoot: true, uncorrelated: undefined });
  }

  #visit(schema: JsonSchemaProps, path: string, place: Place): void {
    this.#places.set(schema, place);
    const count = maxElements(schema);
    const below = {
      ...place,
      isRoot: false,
      cardinality: place.cardinality === undefined || count === undefined ? undefined : place.cardinality * count,
    };
    const values = asSchema(schema.additionalProperties);
    if (values) this.#visit(values, `${path}.additionalProperties`, below);
    for (const [name, property] of namedSchemas(schema.properties)) {
      this.#visit(property, `${path}.properties[${name}]`, below);
    }
    const items = asSchema(schema.items);
    const isKeyed = schema["x-kubernetes-list-type"] === "map";
    if (items) {
      this.#visit(items, `${path}.items`, isKeyed ? below : { ...below, uncorrelated: place.uncorrelated ?? path });
    }
  }

  /** The errors of the rules of a schema. */
  errorsOf(schema: JsonSchemaProps, path: string): FieldError[] {
    const place = this.#places.get(schema);
    if (place === undefined) return [];
    const structural = structuralSchema(schema as JsonObject);
    const isObject = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
    const declared = declaredType(structural, isObject);
    if (declared === undefined) return [];
    const cardinality = place.cardinality ?? maxCardinality(declared);
    const rules = (schema["x-kubernetes-validations"] ?? []) as readonly JsonObject[];
    const compiled = compileRules(structural.validations ?? [], declared, {
      rule: (text) => (this.#stored.rules.has(text) ? storedExpressions : newExpressions),
      message: (text) => (this.#stored.messages.has(text) ? storedExpressions : newExpressions),
    });
    return compiled.flatMap((one, index) => {
      const at = `${path}.x-kubernetes-validations[${index}]`;
      return this.#ruleErrors(one, rules[index] ?? {}, at, cardinality, place);
    });
  }

  #ruleErrors(one: CompiledRule, rule: JsonObject, at: string, cardinality: number, place: Place): FieldError[] {
    const errors: FieldError[] = [];
    const cost = product(one.maxCost, cardinality);
    if (cost > RULE_LIMIT && !this.#mayCostMore)
      errors.push(forbiddenField(`${at}.rule`, tooCostly("estimated rule cost", cost, RULE_LIMIT)));
    this.#observe(`${at}.rule`, cost);
    if (one.error !== undefined) errors.push(invalidField(`${at}.rule`, goRule(rule), one.error));
    if (one.messageError !== undefined) {
      errors.push(invalidField(`${at}.messageExpression`, goRule(rule), one.messageError));
    } else if (one.message !== undefined) {
      const text = tooCostly("estimated messageExpression cost", one.messageMaxCost, RULE_LIMIT);
      const isTooCostly = one.messageMaxCost > RULE_LIMIT && !this.#mayCostMore;
      if (isTooCostly) errors.push(forbiddenField(`${at}.messageExpression`, text));
      this.#observe(`${at}.messageExpression`, one.messageMaxCost);
    }
    if (one.usesOldSelf) {
      if (place.uncorrelated !== undefined) {
        const text = "oldSelf cannot be used on the uncorrelatable portion of the schema within";
        errors.push(invalidField(`${at}.rule`, one.rule.rule, `${text} ${place.uncorrelated}`));
      }
    } else if (rule.optionalOldSelf !== undefined) {
      const text = "may not be set if oldSelf is not used in rule";
      errors.push(invalidField(`${at}.optionalOldSelf`, rule.optionalOldSelf, text));
    }
    return errors;
  }

  #observe(path: string, cost: Amount): void {
    this.#total = sum(this.#total, cost);
    if (cost < SCHEMA_LIMIT / 100) return;
    this.#expensive = [...this.#expensive, { path, cost }]
      .sort((a, b) => (a.cost < b.cost ? 1 : a.cost > b.cost ? -1 : 0))
      .slice(0, 4);
  }

  /** Reports the most expensive rules if the total exceeds the limit. */
  totalErrors(): FieldError[] {
    if (this.#total <= SCHEMA_LIMIT) return [];
    const text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    return [
      ...this.#expensive.map(({ path }) => forbiddenField(path, text)),
      forbiddenField(this.#path, tooCostly(name, this.#total, SCHEMA_LIMIT)),
    ];
  }
}

/** Upstream: `extractMaxElements`. */
function maxElements(schema: JsonSchemaProps): number | undefined {
  const limit = (value: unknown) => (typeof value === "number" ? Math.max(0, value) : undefined);
  if (schema.type === "array") return limit(schema.maxItems);
  return schema.type === "object" && schema.additionalProperties !== undefined ? limit(schema.maxProperties) : 1;
}

/** Upstream: `getCostErrorMessage`. */
function tooCostly(name: string, cost: Amount, limit: number): string {
  const factor = Number(cost) / limit;
  const text = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice = "adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${name} exceeds budget by factor of ${text} (try simplifying the rule, or ${advice})`;
}
