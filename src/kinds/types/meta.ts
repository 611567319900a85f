import type { JsonObject } from "../../base/api/object.ts";

/** Go's map[string]string: labels, annotations, resource lists. */
export interface Texts {
  [key: string]: string;
}

/** LabelSelectorRequirement of meta/v1. */
export interface LabelSelectorRequirement extends JsonObject {
  key?: string;
  operator?: string;
  values?: string[];
}

/** LabelSelector of meta/v1. */
export interface LabelSelector extends JsonObject {
  matchLabels?: Texts;
  matchExpressions?: LabelSelectorRequirement[];
}
