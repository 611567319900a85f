import type { JsonObject } from "../api/object.ts";

/** Texts by name: labels, annotations, amounts of resources. */
export interface Texts {
  [key: string]: string;
}

/** One condition of a label selector. */
export interface LabelSelectorRequirement extends JsonObject {
  key?: string;
  operator?: string;
  values?: string[];
}

/** Which labels are meant, as objects write it. */
export interface LabelSelector extends JsonObject {
  matchLabels?: Texts;
  matchExpressions?: LabelSelectorRequirement[];
}
