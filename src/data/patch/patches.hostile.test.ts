import { suite, test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import type { Json, JsonObject } from "../../base/api/object.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { jsonPatch, parseJsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { strategicMerge } from "./strategic-merge.ts";

const counter = new StepCounter();
const pod = builtInSchema("io.k8s.api.core.v1.Pod");
const SIZE = 500;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const members = (size: number) => Object.fromEntries(times(size, (at) => [`k${at}`, { v: at }]));
const items = (size: number) => times(size, (at) => ({ name: `n${at}`, v: at }));
const objectOf = (size: number): JsonObject => ({
  data: members(size),
  list: items(size),
  words: times(size, (at) => `w${at}`),
});

const OPERATIONS: Readonly<Record<string, (at: number) => Json>> = {
  add: (at) => ({ op: "add", path: `/data/new${at}`, value: at }),
  "add at the end": () => ({ op: "add", path: "/list/-", value: 1 }),
  remove: (at) => ({ op: "remove", path: `/data/k${at}` }),
  replace: (at) => ({ op: "replace", path: `/data/k${at}`, value: at }),
  move: (at) => ({ op: "move", from: `/data/k${at}`, path: `/data/moved${at}` }),
  copy: (at) => ({ op: "copy", from: `/data/k${at}`, path: `/data/copied${at}` }),
  test: (at) => ({ op: "test", path: `/data/k${at}`, value: { v: at } }),
};

/** A Pod, whose containers are merged by name and whose finalizers are a set. */
const podOf = (size: number): JsonObject => ({
  metadata: { labels: labels(size), finalizers: words("w", size) },
  spec: { containers: named("n", size).toReversed() },
});
const labels = (size: number, value: Json = "v") => Object.fromEntries(words("k", size).map((key) => [key, value]));
const words = (prefix: string, size: number) => times(size, (at) => `${prefix}${at}`);
const named = (prefix: string, size: number, more: JsonObject = {}) =>
  words(prefix, size).map((name) => ({ name, ...more }));

const STRATEGIC: Readonly<Record<string, (size: number) => JsonObject>> = {
  "changed members": (size) => ({ metadata: { labels: labels(size, "w") } }),
  "deleted members": (size) => ({ metadata: { labels: labels(size, null) } }),
  "changed items": (size) => ({ spec: { containers: named("n", size, { tty: true }).toReversed() } }),
  "new items": (size) => ({ spec: { containers: named("new", size) } }),
  "deleted items": (size) => ({ spec: { containers: named("n", size, { $patch: "delete" }) } }),
  "words to add": (size) => ({ metadata: { finalizers: words("new", size) } }),
  "words to delete": (size) => ({ metadata: { "$deleteFromPrimitiveList/finalizers": words("w", size) } }),
  "order of items": (size) => ({
    spec: { "$setElementOrder/containers": named("n", size).toReversed(), containers: named("n", size).toReversed() },
  }),
};

suite("a patch takes time in proportion to it and to the object:", () => {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    test(`JSON patch: ${name}`, () => {
      counter.assertLinear(
        (size) => void jsonPatch(objectOf(size), parseJsonPatch(times(size, operation), false)),
        SIZE,
      );
    });
  }
  test("merge patch", () => {
    counter.assertLinear((size) => {
      const data = Object.fromEntries(times(2 * size, (at) => [`k${at}`, at % 2 === 0 ? null : { w: at }]));
      mergePatch(objectOf(size), { data, list: items(size) }, false);
    }, SIZE);
  });
  for (const [name, patch] of Object.entries(STRATEGIC)) {
    test(`strategic merge patch: ${name}`, () => {
      counter.assertLinear((size) => void strategicMerge(podOf(size), patch(size), pod), SIZE);
    });
  }
});
