import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../../base/api/quantity.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import type { Texts } from "../../../types/meta.ts";
import { roundResourceList } from "../../shared-rules/quantities.ts";
import {
  isOvercommitAllowed,
  pushContainerResourceNameErrors,
  pushResourceNameErrors,
  wholeValue,
} from "../../shared-rules/resource-names.ts";

interface Limit extends JsonObject {
  type?: string;
  max?: Texts;
  min?: Texts;
  default?: Texts;
  defaultRequest?: Texts;
  maxLimitRequestRatio?: Texts;
}

const TYPES = ["Pod", "Container", "PersistentVolumeClaim"];
const LISTS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;
const DEFAULTS: readonly string[] = ["default", "defaultRequest"];

const limitsOf = ({ spec }: KubeObject): Limit[] =>
  isObject(spec) && Array.isArray(spec.limits) ? (spec.limits as Limit[]) : [];

/**
 * Defaults of a LimitRangeItem of type Container: `default` from `max`, `defaultRequest` from `default` or `min`.
 * Upstream: `SetDefaults_LimitRangeItem`.
 */
function completeContainer(limit: Limit): void {
  const limits = { ...limit.max, ...limit.default };
  const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
  if (Object.keys(limits).length > 0) limit.default = limits;
  if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
}

function typeErrors(type: string, path: string): FieldError[] {
  const errors = qualifiedName(type).map((text) => invalidField(path, type, text));
  if (errors.length > 0 || type.includes("/") || TYPES.includes(type)) return errors;
  return [invalidField(path, type, "must be a standard limit type or fully qualified")];
}

function nameErrors(limit: Limit, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const isForContainers = limit.type === "Pod" || limit.type === "Container";
  const push = isForContainers ? pushContainerResourceNameErrors : pushResourceNameErrors;
  for (const list of LISTS) {
    if (limit.type === "Pod" && DEFAULTS.includes(list)) {
      const text = "may not be specified when `type` is 'Pod'";
      if (Object.keys(limit[list] ?? {}).length > 0) errors.push(forbiddenField(`${path}.${list}`, text));
    } else {
      for (const name of Object.keys(limit[list] ?? {})) push(errors, `${path}.${list}[${name}]`, name);
    }
    const isClaim = limit.type === "PersistentVolumeClaim" && list === "defaultRequest";
    if (isClaim && limit.min?.storage === undefined && limit.max?.storage === undefined) {
      const text = "either minimum or maximum storage value is required, but neither was provided";
      errors.push(requiredField(`${path}.limits`, text));
    }
  }
  return errors;
}

/** The quantities of one resource in all lists of a LimitRangeItem. */
class Amounts {
  readonly #limit: Limit;
  readonly #name: string;
  readonly #path: string;
  readonly errors: FieldError[] = [];

  constructor(limit: Limit, name: string, path: string) {
    this.#limit = limit;
    this.#name = name;
    this.#path = path;
  }

  text(list: (typeof LISTS)[number]): string | undefined {
    return this.#limit.type === "Pod" && DEFAULTS.includes(list)
      ? undefined
      : getMember(this.#limit[list] ?? {}, this.#name);
  }

  amount(list: (typeof LISTS)[number]): Quantity | undefined {
    const text = this.text(list);
    return text === undefined ? undefined : parseQuantity(text);
  }

  /** Adds an error for a list, which may show the quantity of another one. */
  push(list: (typeof LISTS)[number], shown: string, text: string): void {
    this.errors.push(invalidField(`${this.#path}.${list}[${this.#name}]`, shown, text));
  }

  isGreater(one: (typeof LISTS)[number], other: (typeof LISTS)[number]): boolean {
    const [left, right] = [this.amount(one), this.amount(other)];
    return left !== undefined && right !== undefined && compareQuantities(left, right) > 0;
  }
}

/**
 * Pairs of lists where the first must not be greater: where it is reported, which quantity is shown, and names of both.
 */
const ORDER = [
  ["min", "max", "min", "min", "min value", "max value"],
  ["min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"],
  ["defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"],
  ["defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value", "default limit value"],
  // Compat: errors about `default` show the quantity of `min` or `max` as their value.
  ["min", "default", "default", "min", "min value", "default value"],
  ["default", "max", "default", "max", "default value", "max value"],
] as const;

function amountErrors(limit: Limit, name: string, path: string): FieldError[] {
  const amounts = new Amounts(limit, name, path);
  for (const [one, other, at, shown, oneWord, otherWord] of ORDER) {
    if (!amounts.isGreater(one, other)) continue;
    const text = `${oneWord} ${amounts.text(one)} is greater than ${otherWord} ${amounts.text(other)}`;
    amounts.push(at, amounts.text(shown) ?? "", text);
  }
  pushRatioErrors(amounts);
  const [limits, requests] = [amounts.amount("default"), amounts.amount("defaultRequest")];
  if (!isOvercommitAllowed(name) && limits && requests && compareQuantities(limits, requests) !== 0) {
    const [wanted = "", shown = ""] = [amounts.text("default"), amounts.text("defaultRequest")];
    amounts.push(
      "defaultRequest",
      shown,
      `default value ${wanted} must equal to defaultRequest value ${shown} in ${name}`,
    );
  }
  return amounts.errors;
}

const ONE = parseQuantity("1");
const milli = ({ mantissa, exponent, format }: Quantity): number =>
  Number(wholeValue({ mantissa, exponent: exponent + 3, format }));

function pushRatioErrors(amounts: Amounts): void {
  const ratio = amounts.amount("maxLimitRequestRatio");
  if (ratio === undefined) return;
  const shown = amounts.text("maxLimitRequestRatio") ?? "";
  if (compareQuantities(ratio, ONE) < 0) amounts.push("maxLimitRequestRatio", shown, `ratio ${shown} is less than 1`);
  const [min, max] = [amounts.amount("min"), amounts.amount("max")];
  if (!min || !max) return;
  const most = milli(max) / milli(min);
  if (milli(ratio) / 1000 > most) {
    amounts.push("maxLimitRequestRatio", shown, `ratio ${shown} is greater than max/min = ${most.toFixed(6)}`);
  }
}

function limitErrors(limit: Limit, path: string): FieldError[] {
  const names = new Set(LISTS.flatMap((list) => Object.keys(limit[list] ?? {})));
  return [...nameErrors(limit, path), ...[...names].flatMap((name) => amountErrors(limit, name, path))];
}

/** LimitRange: limits the resources that pods, containers and claims of a namespace may request. */
export const limitRangeHooks: ResourceHooks = {
  setDefaults(range) {
    for (const limit of limitsOf(range)) {
      if (limit.type === "Container") completeContainer(limit);
      for (const list of LISTS) roundResourceList(limit[list]);
    }
  },
  validate(next) {
    const seen = new Set<string>();
    return limitsOf(next).flatMap((limit, index) => {
      const path = `spec.limits[${index}]`;
      const { type = "" } = limit;
      const errors: FieldError[] = typeErrors(type, `${path}.type`);
      if (seen.has(type)) errors.push(duplicateField(`${path}.type`, type));
      seen.add(type);
      return [...errors, ...limitErrors(limit, path)];
    });
  },
};
