import assert from "node:assert/strict";
import { test } from "node:test";
import { hasColour } from "./colour.ts";

test("uses colours on a terminal, unless NO_COLOR or --color say otherwise", () => {
  assert.equal(hasColour("auto", { isTerminal: true, env: {} }), true);
  assert.equal(hasColour("auto", { isTerminal: false, env: {} }), false);
  assert.equal(hasColour("auto", { isTerminal: true, env: { NO_COLOR: "1" } }), false);
  assert.equal(hasColour("auto", { isTerminal: true, env: { NO_COLOR: "" } }), true);
  assert.equal(hasColour("auto", { isTerminal: true, env: { TERM: "dumb" } }), false);
  assert.equal(hasColour("always", { isTerminal: false, env: { NO_COLOR: "1" } }), true);
  assert.equal(hasColour("never", { isTerminal: true, env: {} }), false);
});
