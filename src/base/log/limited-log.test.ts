import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../storage/store.ts";
import { drivenEnvironment } from "../util/environment.suite.ts";
import { carefulLog } from "./careful-log.ts";
import { limitedLog } from "./limited-log.ts";

function parts() {
  const { clock, lines, log } = drivenEnvironment();
  const limited = carefulLog(limitedLog(log, clock));
  const logged = () => lines.splice(0).map(({ text, fields }) => [text, fields.controller, fields.suppressed]);
  return { clock, limited, logged };
}

test("logs a cause once per minute with the number of suppressed lines, whichever controller met it", async () => {
  const { clock, limited, logged } = parts();
  const gone = new StoreError("unavailable", "connect ECONNREFUSED");
  const fail = (controller: string) =>
    limited.error("controller failed", { err: new Error("", { cause: gone }), controller });
  for (let i = 0; i < 100; i++) fail(`c${i % 7}`);
  assert.deepEqual(logged(), [["controller failed", "c0", undefined]]);
  limited.error("request failed", { err: gone });
  limited.error("controller failed", { err: new StoreError("unavailable", "something else"), controller: "c1" });
  assert.deepEqual(logged(), [
    ["request failed", undefined, undefined],
    ["controller failed", "c1", undefined],
  ]);
  await clock.advance(59_999);
  assert.deepEqual(logged(), []);
  await clock.advance(1);
  assert.deepEqual(logged(), [["controller failed", "c1", 99]]);
  fail("c3");
  await clock.advance(60_000);
  assert.deepEqual(logged(), [["controller failed", "c3", 1]]);
  await clock.advance(60_000);
  assert.deepEqual([logged(), clock.timerCount], [[], 0]);
  fail("c4");
  assert.deepEqual(logged(), [["controller failed", "c4", undefined]]);
});

test("suppresses equal lines without an error, but never info lines", () => {
  const { limited, logged } = parts();
  for (const file of ["a", "b", "a"]) limited.warn("is empty", { file, controller: file });
  assert.deepEqual(logged(), [
    ["is empty", "a", undefined],
    ["is empty", "b", undefined],
  ]);
  for (let i = 0; i < 3; i++) limited.info("is ready");
  assert.equal(logged().length, 3);
});

test("bounds the number of remembered causes and of lines", async () => {
  const { clock, limited, logged } = parts();
  for (let i = 0; i < 1000; i++) limited.error("failed", { err: new Error(`cause ${i}`) });
  assert.equal(logged().length, 201);
  assert.equal(clock.timerCount, 201);
  await clock.advance(60_000);
  assert.deepEqual(logged(), [["failed", undefined, 799]]);
});
