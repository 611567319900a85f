import type { LabelSelector } from "../../../kinds/types/meta.ts";

/** Prints a LabelSelector object as `%v` of Go does. */
export function printSelectorObject(selector: LabelSelector | undefined): string {
  if (selector === undefined) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const names = Object.keys(matchLabels).sort();
  const labels = names.map((name) => `${name}: ${matchLabels[name]},`).join("");
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
