import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { KeyLabels } from "./key-labels.ts";

test("labels every key of a kind and no other key", () => {
  const definitions = builtInKinds("cluster.local", 3600);
  const keys = new KeySpace("/registry");
  const labels = new KeyLabels({ definitions }, keys);
  for (const definition of definitions) {
    if (!definition.verbs.includes("get")) continue;
    const { group, resource } = labels.of(keys.key(definition, { namespace: "ns", name: "a.b" }));
    assert.equal(resource, definition.plural);
    assert.ok(group === definition.group || definition.plural === "events", `${definition.plural}: ${group}`);
    assert.equal(labels.of(keys.prefix(definition)), labels.of(keys.key(definition, { namespace: "x", name: "y" })));
  }
  for (const key of ["/registry/health", "/registry/none/a/b", "/registry/", "", "/registry/constructor/a"]) {
    assert.deepEqual(labels.of(key), { group: "", resource: "" }, key);
  }
  const prefixes = [...labels.all()].map(({ prefix }) => prefix);
  assert.equal(new Set(prefixes).size, prefixes.length);
});
