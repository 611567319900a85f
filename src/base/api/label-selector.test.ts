import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./api-error.ts";
import { matchesLabels, parseLabelSelector } from "./label-selector.ts";

const LABELS = { app: "web", tier: "front", size: "5", empty: "" };

const MATCHING = [
  "",
  "app=web",
  "app==web",
  " app = web , tier in ( front , back ) ",
  "app!=db",
  "missing!=x",
  "missing notin (a,b)",
  "app",
  "!missing",
  "size>4",
  "size<6",
  "empty=",
  "empty in (,x)",
  "empty in ()",
];
const OTHER = ["app=db", "app in (db)", "app notin (web)", "!app", "missing", "size>5", "tier>1", "missing=", "a,b"];

for (const selector of MATCHING) {
  test(`'${selector}' matches`, () => assert.equal(matchesLabels(parseLabelSelector(selector), LABELS), true));
}
for (const selector of OTHER) {
  test(`'${selector}' does not match`, () => assert.equal(matchesLabels(parseLabelSelector(selector), LABELS), false));
}

const REFUSED: Readonly<Record<string, string>> = {
  "a in (b": "unable to parse requirement: found '', expected: ',' or ')'",
  "a in (": "unable to parse requirement: found '', expected: ',', ')' or identifier",
  "a=>b": "unable to parse requirement: found '>', expected: identifier",
  "bad key=v": "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt",
  "k=not valid": "found 'valid', expected: ',' or 'end of string'",
  ",": "found ',', expected: !, identifier, or 'end of string'",
  "app=web,": "found '', expected: identifier after ','",
  "app in web": "unable to parse requirement: found 'web' expected: '('",
  "size>abc":
    "unable to parse requirement: values[0]: Invalid value: \"abc\": for 'Gt', 'Lt' operators, the value must be an integer",
};

for (const [selector, message] of Object.entries(REFUSED)) {
  test(`'${selector}' is rejected`, () => {
    assert.throws(
      () => parseLabelSelector(selector),
      (error) => error instanceof ApiError && error.code === 400 && error.message === message,
    );
  });
}

test("ignores members that the labels object inherits", () => {
  assert.equal(matchesLabels(parseLabelSelector("toString"), {}), false);
});

test("finds one of many values", () => {
  const values = Array.from({ length: 1000 }, (_, index) => `v${index}`).join(",");
  for (const [label, isIn] of [
    ["v999", true],
    ["v1000", false],
  ] as const) {
    assert.equal(matchesLabels(parseLabelSelector(`a in (${values})`), { a: label }), isIn);
    assert.equal(matchesLabels(parseLabelSelector(`a notin (${values})`), { a: label }), !isIn);
  }
});
