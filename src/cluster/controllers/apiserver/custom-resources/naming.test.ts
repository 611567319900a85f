import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition, DefinitionNames } from "../../../../kinds/types/custom-resource-definition.ts";
import { acceptNames } from "./naming.ts";

function definition(
  names: DefinitionNames,
  accepted?: DefinitionNames,
  group = "example.com",
): CustomResourceDefinition {
  return {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1",
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names },
    status: accepted ? { acceptedNames: accepted } : {},
  };
}

const widget = { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList", shortNames: ["wd"] };

test("accepts free names, and prepares the definition to be established", () => {
  const change = acceptNames(definition(widget), []);
  assert.deepEqual(change?.acceptedNames, widget);
  assert.deepEqual(
    change?.conditions.map(({ type, status, reason }) => [type, status, reason]),
    [
      ["NamesAccepted", "True", "NoConflicts"],
      ["Established", "False", "Installing"],
    ],
  );
});

test("reports the last conflicting name, accepts the free ones, and ignores other groups", () => {
  const wanted = definition({ ...widget, plural: "widgetses" });
  const taken = acceptNames(wanted, [definition(widget, widget), wanted]);
  assert.deepEqual(taken?.acceptedNames, { plural: "widgetses", kind: "" });
  assert.deepEqual(taken?.conditions, [
    { type: "NamesAccepted", status: "False", reason: "ListKindConflict", message: '"WidgetList" is already in use' },
    { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
  ]);
  const elsewhere = acceptNames(wanted, [definition(widget, widget, "example.org")]);
  assert.equal(elsewhere?.conditions[0]?.status, "True");
});

test("changes nothing if the names are already accepted", () => {
  assert.equal(acceptNames(definition(widget, widget), [definition(widget, widget)]), undefined);
});
