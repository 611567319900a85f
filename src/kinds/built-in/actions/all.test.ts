import assert from "node:assert/strict";
import { test } from "node:test";
import { findAction, NO_ACTIONS } from "../../../resources/model/actions.ts";
import { builtInKinds } from "../all.ts";
import { testActions } from "./actions.suite.ts";

const kinds = builtInKinds(undefined, undefined, true);
const subresources = kinds.flatMap((kind) => Object.values(kind.subresources));
const named = {
  create: [...kinds.map(({ actions }) => actions?.create), ...subresources.map(({ action }) => action)],
  reserve: kinds.map(({ actions }) => actions?.reserve),
  compute: kinds.map(({ actions }) => actions?.compute),
};

for (const when of ["create", "reserve", "compute"] as const) {
  test(`rows name exactly the actions that there are: ${when}`, () => {
    const names = new Set(named[when].filter((name) => name !== undefined));
    assert.deepEqual([...names].sort(), Object.keys(testActions[when]).sort());
  });
}

test("kinds without storage have an action", () => {
  const idle = kinds.filter(({ storage, actions }) => !storage && !actions?.create && !actions?.compute);
  assert.deepEqual(idle, []);
});

test("reports a missing action by name", () => {
  assert.throws(() => findAction(NO_ACTIONS.create, "eviction"), /no action named eviction/);
  assert.throws(() => findAction(NO_ACTIONS.create, "toString"), /no action named toString/);
});
