import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import * as library from "../src/index.ts";
import { completeConfig } from "../src/programs/library/options.ts";
import * as testing from "../src/testing.ts";
import { exportsOf } from "../tools/reference/library.ts";
import { referencePages } from "../tools/reference.ts";

const folder = path.join(import.meta.dirname, "..", "docs", "reference");
const pages = await referencePages();

suite("docs/reference, which `npm run docs reference` writes:", () => {
  for (const [name, text] of pages) {
    test(`${name} is current`, () => {
      assert.equal(readFileSync(path.join(folder, name), "utf8"), text);
    });
  }

  test("the library has every export, with a comment", () => {
    for (const [file, module] of [
      ["index.ts", library],
      ["testing.ts", testing],
    ] as const) {
      const declarations = exportsOf(file);
      const names = declarations.map(({ name }) => name);
      assert.deepEqual(
        Object.keys(module).filter((name) => !names.includes(name)),
        [],
      );
      for (const { name, comment } of declarations) assert.notEqual(comment, "", name);
    }
  });

  test("the library lists getters as properties, overloads, inherited members by a link, and no internals", () => {
    const page = pages.get("library.md") ?? "";
    const [, testingPart = ""] = page.split("\n## binnacle/testing\n");
    for (const line of [
      "| `faults: Faults` |",
      "| `requests: RequestLog` |",
      "| `length: number` |",
      "| `kubeconfig: string` |",
    ]) {
      assert.ok(testingPart.includes(line), line);
    }
    const overloads = testingPart.match(/^\| `client<.*$/gm) ?? [];
    assert.deepEqual(
      overloads.map((line) => /\): ([^`]*)`/.exec(line)?.[1]),
      ["Api", "KindClient<Item, Input>"],
    );
    assert.match(testingPart, /\n### ControlPlane\n[^#]*It also has the members of \[Access\]\(#access\)/);
    assert.doesNotMatch(testingPart, /\| `(?:stage|begin|add|open|state)\b/);
  });

  test("configuration.md has every option", () => {
    const page = pages.get("configuration.md") ?? "";
    const has = (key: string) => page.includes(`\n| \`${key}\` |`);
    const lacks = (value: object, prefix: string): string[] =>
      Object.entries(value).flatMap(([name, inner]) => {
        const key = `${prefix}${name}`;
        if (has(key)) return [];
        return typeof inner === "object" && !Array.isArray(inner) ? lacks(inner, `${key}.`) : [key];
      });
    assert.deepEqual(lacks(completeConfig({}), ""), []);
  });
});
