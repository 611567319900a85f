import assert from "node:assert/strict";
import { test } from "node:test";
import { invalidField } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { Draft } from "../model/draft.ts";
import { showEmpties, toStoredForm } from "./explicit-empties.ts";
import { countGeneration } from "./generation.ts";

const definitionOf = (plural: string) => {
  const found = builtInKinds().find((definition) => definition.plural === plural);
  if (!found) throw new Error(plural);
  return found;
};

const policy = (): KubeObject => ({
  kind: "NetworkPolicy",
  apiVersion: "networking.k8s.io/v1",
  metadata: { name: "one", generation: 1 },
  spec: { podSelector: { matchLabels: {} }, ingress: [] },
});

test("does not store empty values, but records them", async () => {
  const definition = definitionOf("networkpolicies");
  const object = policy();
  assert.equal((await toStoredForm(definition, new Draft(object), object.apiVersion)).object, object);
  const sent = new Draft(object, { holdsEmpties: true });
  for (const one of [sent, sent.copy()]) {
    const { object: next, empties } = await toStoredForm(definition, one, object.apiVersion);
    assert.deepEqual(next, { ...policy(), spec: { podSelector: {} } });
    assert.deepEqual(empties, [
      { path: ["spec", "podSelector", "matchLabels"], value: {} },
      { path: ["spec", "ingress"], value: [] },
    ]);
  }
});

test("only some kinds count empty values as a change", () => {
  const empties = [{ path: ["spec", "ingress"], value: [] }];
  for (const [plural, expected] of [
    ["networkpolicies", 2],
    ["ingresses", 1],
  ] as const) {
    const next = policy();
    countGeneration(definitionOf(plural), next, policy(), empties);
    assert.equal(next.metadata.generation, expected, plural);
    const same = policy();
    countGeneration(definitionOf(plural), same, policy(), [{ path: ["metadata", "labels"], value: {} }]);
    assert.equal(same.metadata.generation, 1, plural);
  }
});

test("messages show values that were sent empty", () => {
  const empties = [{ path: ["spec", "terms"], value: [] }];
  const [first, second] = showEmpties(
    [invalidField("spec.terms", null, "must have one"), invalidField("spec.other", null, "must have one")],
    empties,
  );
  assert.equal(first?.message, "Invalid value: []: must have one");
  assert.equal(second?.message, "Invalid value: null: must have one");
  const immutable = { ...invalidField("spec.terms", null, "field is immutable"), hidesValue: true };
  assert.deepEqual(showEmpties([immutable], empties), [immutable]);
});
