import { ApiError } from "../../../base/api/api-error.ts";
import { type Attributes, nonResourceAttributes, resourceAttributes } from "../../../base/api/attributes.ts";
import { type FieldRequirement, parseFieldSelector } from "../../../base/api/field-selector.ts";
import { type LabelRequirement, parseLabelSelector } from "../../../base/api/label-selector.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { LabelSelectorRequirement } from "../../types/meta.ts";

/** A selector of an access review: as text or as requirements. */
export interface ReviewSelector extends JsonObject {
  rawSelector?: string;
  requirements?: LabelSelectorRequirement[];
}

/** `spec.resourceAttributes` of an access review. */
export interface ResourceAttributes extends JsonObject {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
  fieldSelector?: ReviewSelector;
  labelSelector?: ReviewSelector;
}

/** `spec.nonResourceAttributes` of an access review. */
export interface PathAttributes extends JsonObject {
  path?: string;
  verb?: string;
}

/** The access under review: resourceAttributes or nonResourceAttributes. */
export interface ReviewedAccess {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: PathAttributes;
}

/** The attributes of an access review, and as `status.evaluationError` the parts that could not be used. */
export function attributesFrom(
  user: UserInfo,
  { resourceAttributes: given, nonResourceAttributes: { verb = "", path = "" } = {} }: ReviewedAccess,
): { attributes: Attributes; evaluationError: string } {
  if (!given) return { attributes: nonResourceAttributes(user, verb, path), evaluationError: "" };
  const fields = readSelector(given.fieldSelector, parseFieldSelector, readFieldRequirement);
  const labels = readSelector(given.labelSelector, parseLabelSelector, readLabelRequirement);
  const attributes = resourceAttributes(user, {
    verb: given.verb ?? "",
    apiGroup: given.group ?? "",
    // Compat: matchAllVersionIfEmpty.
    apiVersion: given.version || "*",
    resource: given.resource ?? "",
    subresource: given.subresource ?? "",
    namespace: given.namespace ?? "",
    name: given.name ?? "",
    ...(fields.understood.length > 0 && { fieldSelector: fields.understood }),
    ...(labels.understood.length > 0 && { labelSelector: labels.understood }),
  });
  const texts = [
    fields.ignored && `spec.resourceAttributes.fieldSelector ${fields.ignored} due to parse error`,
    labels.ignored && `spec.resourceAttributes.labelSelector ${labels.ignored} due to parse error`,
  ];
  return { attributes, evaluationError: texts.filter((text) => text !== undefined).join("; ") };
}

interface ReadSelector<T> {
  readonly understood: readonly T[];
  readonly ignored?: "ignored" | "partially ignored";
}

function readSelector<T>(
  { rawSelector = "", requirements = [] }: ReviewSelector = {},
  parse: (text: string) => readonly T[],
  read: (requirement: LabelSelectorRequirement) => T | undefined,
): ReadSelector<T> {
  if (rawSelector !== "") return parseSelector(rawSelector, parse);
  const understood = requirements.map(read).filter((one) => one !== undefined);
  if (understood.length === requirements.length) return { understood };
  return { understood, ignored: understood.length > 0 ? "partially ignored" : "ignored" };
}

function parseSelector<T>(text: string, parse: (text: string) => readonly T[]): ReadSelector<T> {
  try {
    return { understood: parse(text) };
  } catch (error) {
    if (error instanceof ApiError) return { understood: [], ignored: "ignored" };
    throw error;
  }
}

function readLabelRequirement(requirement: LabelSelectorRequirement): LabelRequirement | undefined {
  return readSelectorObject({ matchExpressions: [requirement] })?.[0];
}

/** Compat: fieldSelectorAsSelector understands In and NotIn with one value, as = and !=. */
function readFieldRequirement({
  key = "",
  operator,
  values = [],
}: LabelSelectorRequirement): FieldRequirement | undefined {
  const [value, ...more] = values;
  if (value === undefined || more.length > 0 || (operator !== "In" && operator !== "NotIn")) return undefined;
  return { field: key, isEqual: operator === "In", value };
}
