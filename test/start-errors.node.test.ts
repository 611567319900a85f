import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { startErrorsPage } from "../tools/start-errors.ts";
import table from "./start-errors/table.json" with { type: "json" };
import { makeWorld, type World } from "./start-errors/world.ts";

suite("a start that cannot succeed", () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  for (const { args, says } of table) {
    test(`is told of: ${args.join(" ")}`, async () => {
      assert.equal(await world.say(args), says);
    });
  }
});

test("what is said has a cause in words, and no code of a system call alone", () => {
  assert.ok(table.length >= 40);
  for (const { args, says } of table) {
    assert.match(says, /^binnacle: [\s\S]+\(ends with 1\)$/, args.join(" "));
    assert.doesNotMatch(
      says,
      /ENOENT|EEXIST|EADDRINUSE|Invalid URL|still loading|PEM routines|\n {4}at /,
      args.join(" "),
    );
  }
});

test("docs/reference/start-errors.md is made of the table; node tools/start-errors.ts writes it", () => {
  const page = readFileSync(path.join(import.meta.dirname, "..", "docs", "reference", "start-errors.md"), "utf8");
  assert.equal(page, startErrorsPage(table));
});
