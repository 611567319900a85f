import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { readLabelMap, readSelectorObject } from "../../../base/api/selector-object.ts";
import { LabelIndex, SelectorIndex } from "./selection.ts";

const labeled = (name: string, labels: Record<string, string>, namespace = "default"): KubeObject => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name, namespace, labels },
});
const selecting = (name: string, selector: JsonObject): KubeObject => ({
  ...labeled(name, {}),
  spec: { selector },
});
const names = (objects: Iterable<KubeObject>) => [...objects].map(({ metadata }) => metadata.name).sort();

suite("LabelIndex", () => {
  const index = new LabelIndex<KubeObject>();
  const web = labeled("web", { app: "web", part: "shop" });
  index.change(undefined, web);
  index.change(undefined, labeled("db", { app: "db", part: "shop" }));
  index.change(undefined, labeled("other", { app: "web" }, "other"));

  test("finds objects by all labels of a selector", () => {
    assert.deepEqual(names(index.select("default", readLabelMap({ part: "shop" }))), ["db", "web"]);
    assert.deepEqual(names(index.select("default", readLabelMap({ part: "shop", app: "web" }))), ["web"]);
    assert.deepEqual(names(index.select("default", readLabelMap({ app: "none" }))), []);
  });

  test("finds objects by expressions, and all of a namespace by an empty selector", () => {
    const expression = { key: "app", operator: "NotIn", values: ["db"] };
    const selector = readSelectorObject({ matchExpressions: [expression] });
    assert.deepEqual(names(index.select("default", selector ?? [])), ["web"]);
    assert.deepEqual(names(index.select("other", [])), ["other"]);
  });

  test("follows changes", () => {
    const renamed = labeled("web", { app: "api" });
    index.change(web, renamed);
    assert.deepEqual(names(index.select("default", readLabelMap({ app: "web" }))), []);
    assert.deepEqual(names(index.select("default", readLabelMap({ app: "api" }))), ["web"]);
  });
});

suite("SelectorIndex", () => {
  const index = new SelectorIndex<KubeObject>(({ spec }) => readSelectorObject((spec as JsonObject).selector));
  const web = selecting("web", { matchLabels: { app: "web" } });
  const objects = [
    web,
    selecting("front", { matchLabels: { app: "web", tier: "front" } }),
    selecting("not-db", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["db"] }] }),
    selecting("one-value", { matchExpressions: [{ key: "app", operator: "In", values: ["db"] }] }),
  ];
  for (const object of objects) index.change(undefined, object);

  test("finds the objects whose selector matches", () => {
    assert.deepEqual(names(index.matching("default", { app: "web" })), ["not-db", "web"]);
    assert.deepEqual(names(index.matching("default", { app: "web", tier: "front" })), ["front", "not-db", "web"]);
    assert.deepEqual(names(index.matching("default", { app: "db" })), ["one-value"]);
    assert.deepEqual(names(index.matching("other", { app: "web" })), []);
  });

  test("follows changes", () => {
    index.change(web, selecting("web", { matchLabels: { tier: "back" } }));
    assert.deepEqual(names(index.matching("default", { app: "web" })), ["not-db"]);
    assert.deepEqual(names(index.matching("default", { app: "db", tier: "back" })), ["one-value", "web"]);
  });

  test("reads only selectors with the values of the labels", (t) => {
    const selectorOf = t.mock.fn(({ spec }: KubeObject) => readLabelMap((spec as JsonObject).selector));
    const many = new SelectorIndex<KubeObject>(selectorOf);
    for (let at = 0; at < 1000; at++) many.change(undefined, selecting(`s${at}`, { app: `app-${at}` }));
    const before = selectorOf.mock.callCount();
    assert.deepEqual(names(many.matching("default", { app: "app-7", tier: "x" })), ["s7"]);
    assert.equal(selectorOf.mock.callCount() - before, 1);
  });
});
