import assert from "node:assert/strict";
import { test } from "node:test";
import { Catalog, type CatalogChange } from "./catalog.ts";
import type { ResourceDefinition } from "./definition.ts";

function define(plural: string, ...versions: string[]): ResourceDefinition {
  return {
    group: "example.com",
    kind: plural.toUpperCase(),
    listKind: `${plural.toUpperCase()}List`,
    plural,
    singular: plural,
    shortNames: [],
    categories: [],
    scope: "Namespaced",
    verbs: [],
    reading: "structural",
    versions: versions.map((name) => ({ name, schema: () => ({}), schemaName: "" })),
    subresources: {},
    rules: {},
  };
}

test("unchanged definitions keep their identity and are not withdrawn", () => {
  const [kept, changing, leaving] = [define("kept", "v1", "v2"), define("changing", "v1"), define("leaving", "v1")];
  const catalog = new Catalog([kept, changing, leaving]);
  const find = (version: string, plural: string) => catalog.find("example.com", version, plural);
  const before = [find("v1", "kept"), find("v2", "kept"), find("v1", "changing"), find("v1", "leaving")];
  catalog.replace([define("new", "v1"), kept, { ...changing }]);
  assert.equal(find("v1", "kept"), before[0]);
  assert.equal(find("v2", "kept"), before[1]);
  assert.equal(catalog.findKind("example.com/v2", "KEPTList"), before[1]);
  assert.notEqual(find("v1", "changing"), before[2]);
  assert.equal(find("v1", "leaving"), undefined);
  assert.deepEqual(
    before.map((one) => one?.withdrawn.hasHappened),
    [false, false, true, true],
  );
});

test("subscribers receive added, changed and withdrawn definitions after the change", () => {
  const [kept, changing, leaving] = [define("kept", "v1"), define("changing", "v1"), define("leaving", "v1")];
  const catalog = new Catalog([kept, changing, leaving]);
  const heard: CatalogChange[] = [];
  const unsubscribe = catalog.subscribe((change) => {
    assert.ok(catalog.find("example.com", "v1", "new"));
    heard.push(change);
  });
  const [added, changed] = [define("new", "v1"), define("changing", "v1", "v2")];
  catalog.replace([kept, changed, added]);
  assert.deepEqual(heard, [{ added: [added], changed: [changed], withdrawn: [leaving] }]);
  unsubscribe();
  catalog.replace([kept]);
  assert.equal(heard.length, 1);
});

test("a late listener of a withdrawal is called immediately", () => {
  const definition = define("things", "v1");
  const catalog = new Catalog([definition]);
  const resource = catalog.find("example.com", "v1", "things");
  let heard = 0;
  const stop = resource?.withdrawn.listen(() => heard++);
  resource?.withdrawn.listen(() => heard++);
  stop?.();
  catalog.replace([]);
  resource?.withdrawn.listen(() => heard++);
  assert.equal(heard, 2);
});
