import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { volumeWarnings } from "./volume-warnings.ts";

const warningsOf = (paths: readonly string[]) => {
  const items = paths.map((path) => ({ key: "a", path }));
  return volumeWarnings([{ name: "v", configMap: { name: "m", items } }], "spec.volumes");
};
const overlap = (one: string, other: string) =>
  `volume "v" (ConfigMap "m"): overlapping paths: "${one}" with "${other}"`;

suite("warnings about overlapping paths", () => {
  test("name each pair once, in the order found", () => {
    assert.deepEqual(warningsOf(["a", "b"]), []);
    assert.deepEqual(warningsOf(["a", "a/b", "ab"]), [overlap("a/b", "a")]);
    assert.deepEqual(warningsOf(["a", "a/b", "a"]), [overlap("a/b", "a"), overlap("a", "a"), overlap("a", "a/b")]);
    assert.deepEqual(warningsOf(["a", "a/", "a/b", "a", "a/b"]), [
      overlap("a", "a"),
      overlap("a/b", "a"),
      overlap("a", "a/b"),
      overlap("a/b", "a/b"),
    ]);
  });

  test("are found for every file among a hundred thousand equal ones", () => {
    const equal = Array.from({ length: 100_000 }, () => "a");
    assert.deepEqual(warningsOf([...equal, "a/b"]), [overlap("a", "a"), overlap("a/b", "a")]);
  });
});
