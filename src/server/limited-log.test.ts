import assert from "node:assert/strict";
import { test } from "node:test";
import { drivenEnvironment } from "../lib/environment.suite.ts";
import { StoreError } from "../storage/store.ts";
import { carefulLog } from "./careful-log.ts";
import { limitedLog } from "./limited-log.ts";

function parts() {
  const { clock, lines, log } = drivenEnvironment();
  const limited = carefulLog(limitedLog(log, clock));
  const told = () => lines.splice(0).map(({ text, fields }) => [text, fields.controller, fields.leftOut]);
  return { clock, limited, told };
}

test("one cause is told once per minute, with how many lines were left out, whoever met it", async () => {
  const { clock, limited, told } = parts();
  const gone = new StoreError("unavailable", "connect ECONNREFUSED");
  const fail = (controller: string) =>
    limited.error("controller failed", { err: new Error("", { cause: gone }), controller });
  for (let i = 0; i < 100; i++) fail(`c${i % 7}`);
  assert.deepEqual(told(), [["controller failed", "c0", undefined]]);
  limited.error("request failed", { err: gone });
  limited.error("controller failed", { err: new StoreError("unavailable", "something else"), controller: "c1" });
  assert.deepEqual(told(), [
    ["request failed", undefined, undefined],
    ["controller failed", "c1", undefined],
  ]);
  await clock.advance(59_999);
  assert.deepEqual(told(), []);
  await clock.advance(1);
  assert.deepEqual(told(), [["controller failed", "c1", 99]]);
  fail("c3");
  await clock.advance(60_000);
  assert.deepEqual(told(), [["controller failed", "c3", 1]]);
  await clock.advance(60_000);
  assert.deepEqual([told(), clock.timerCount], [[], 0]);
  fail("c4");
  assert.deepEqual(told(), [["controller failed", "c4", undefined]]);
});

test("lines without an error are the same when they say the same, and notes are never left out", () => {
  const { limited, told } = parts();
  for (const file of ["a", "b", "a"]) limited.warn("is empty", { file, controller: file });
  assert.deepEqual(told(), [
    ["is empty", "a", undefined],
    ["is empty", "b", undefined],
  ]);
  for (let i = 0; i < 3; i++) limited.info("is ready");
  assert.equal(told().length, 3);
});

test("causes that are remembered are bounded, and so are lines of any number of causes", async () => {
  const { clock, limited, told } = parts();
  for (let i = 0; i < 1000; i++) limited.error("failed", { err: new Error(`cause ${i}`) });
  assert.equal(told().length, 201);
  assert.equal(clock.timerCount, 201);
  await clock.advance(60_000);
  assert.deepEqual(told(), [["failed", undefined, 799]]);
});
