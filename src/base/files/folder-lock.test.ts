import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { breakLock, whileLocked } from "./folder-lock.ts";

/** No process has this id: it is above the maximum of Linux. */
const ENDED = "5000000 a";

async function newLock(t: TestContext, text?: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-lock-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, ".lock");
  if (text !== undefined) await writeFile(file, text);
  return file;
}

test("takes over the lock of a process that has ended, and leaves no lock behind", async (t) => {
  const file = await newLock(t, ENDED);
  assert.equal(
    await whileLocked(path.dirname(file), async () => (await readFile(file, "utf8")).split(" ")[0]),
    `${process.pid}`,
  );
  assert.deepEqual(await readdir(path.dirname(file)), [".gitignore"]);
});

test("a waiter that found a stale lock does not remove the fresh lock of another waiter", async (t) => {
  const file = await newLock(t, ENDED);
  assert.equal(await breakLock(file, ENDED), true);
  await writeFile(file, "1 fresh", { flag: "wx" });
  assert.equal(await breakLock(file, ENDED), true);
  assert.equal(await readFile(file, "utf8"), "1 fresh");
});

test("leaves a stale lock to the waiter that is removing it", async (t) => {
  const file = await newLock(t, ENDED);
  await writeFile(`${file}.breaking`, "");
  assert.equal(await breakLock(file, ENDED), false);
  assert.equal(await readFile(file, "utf8"), ENDED);
});

test("runs one piece of work at a time", async (t) => {
  const folder = path.dirname(await newLock(t));
  let running = 0;
  const work = async () => {
    running++;
    assert.equal(running, 1);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  await Promise.all(Array.from({ length: 10 }, () => whileLocked(folder, work)));
});
