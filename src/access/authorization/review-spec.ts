import type { Attributes } from "../../base/api/attributes.ts";
import type { FieldSelector } from "../../base/api/field-selector.ts";
import type { LabelSelector } from "../../base/api/label-selector.ts";
import type { JsonObject } from "../../base/api/object.ts";

/** `spec` of a SubjectAccessReview, with its fields in the order of kube-apiserver. */
export function reviewSpec(attributes: Attributes, version: string): JsonObject {
  const { user, path, verb } = attributes;
  const { name, uid = "", groups, extra = {} } = user;
  return {
    ...(attributes.isResourceRequest
      ? { resourceAttributes: resourceAttributes(attributes) }
      : { nonResourceAttributes: withoutEmpty({ path, verb }) }),
    ...withoutEmpty({ user: name }),
    ...(groups.length > 0 && { [version === "v1" ? "groups" : "group"]: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: sorted(extra) }),
    ...withoutEmpty({ uid }),
  };
}

const sorted = (extra: Readonly<Record<string, readonly string[]>>): JsonObject =>
  Object.fromEntries(
    Object.entries(extra)
      .map(([key, values]): [string, string[]] => [key, [...values]])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

function resourceAttributes(attributes: Attributes): JsonObject {
  const { namespace, verb, apiGroup: group, apiVersion, resource, subresource, name } = attributes;
  const fields = fieldRequirements(attributes.fieldSelector ?? []);
  const labels = labelRequirements(attributes.labelSelector ?? []);
  return {
    ...withoutEmpty({ namespace, verb, group, version: apiVersion, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}

function withoutEmpty(texts: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ""));
}

const fieldRequirements = (selector: FieldSelector): JsonObject[] =>
  selector.map(({ field, isEqual, value }) => ({ key: field, operator: isEqual ? "In" : "NotIn", values: [value] }));

const LABEL_OPERATORS: ReadonlyMap<string, string> = new Map([
  ["=", "In"],
  ["==", "In"],
  ["in", "In"],
  ["!=", "NotIn"],
  ["notin", "NotIn"],
  ["exists", "Exists"],
  ["!", "DoesNotExist"],
]);

/**
 * Compat: `labelSelectorToAuthorizationAPI` omits requirements with other operators, which only widens the checked
 * selection.
 */
const labelRequirements = (selector: LabelSelector): JsonObject[] =>
  selector.flatMap(({ key, operator, values }) => {
    const told = LABEL_OPERATORS.get(operator);
    return told === undefined ? [] : [{ key, operator: told, ...(values.length > 0 && { values: [...values] }) }];
  });
