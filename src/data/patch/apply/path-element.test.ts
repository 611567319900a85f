import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactInteger } from "../../../base/util/exact-integer.ts";
import { canonicalElement, compareElements, keyElement, sortByElement, valueElement } from "./path-element.ts";

test("an element keeps an integer that a double cannot represent", () => {
  assert.equal(canonicalElement("v:9007199254740993"), valueElement(new ExactInteger("9007199254740993")));
  const key = keyElement([["port", new ExactInteger("-9223372036854775808")]]);
  assert.equal(canonicalElement('k:{"port":-9223372036854775808}'), key);
});

test("elements with large integers are in the order of their values, before other types", () => {
  const sorted = [
    "v:-9007199254740993",
    "v:7",
    "v:9007199254740992",
    "v:9007199254740993",
    "v:10000000000000001",
    'v:"1"',
  ];
  assert.deepEqual(sortByElement(sorted.toReversed(), String), sorted);
  assert.ok(compareElements('k:{"a":9007199254740993}', 'k:{"a":9007199254740995}') < 0);
});
