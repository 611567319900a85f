import assert from "node:assert/strict";
import { test } from "node:test";
import { leadsGroup } from "./lifetime.ts";

const stat = (group: number, session: number) => `42 (a (name) b) S 7 ${group} ${session} 0 -1 4194560 1 0`;

test("a program that leads its own group belongs to a suite; a daemon and a shell's child do not", () => {
  assert.equal(leadsGroup(stat(42, 7)), true);
  assert.equal(leadsGroup(stat(42, 42)), false);
  assert.equal(leadsGroup(stat(7, 7)), false);
  assert.equal(leadsGroup(""), false);
});
