import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { whileLocked } from "./folder-lock.ts";
import { readPrivate, writeWhole } from "./private-file.ts";

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-private-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test("reads what it wrote, and returns undefined if the file does not exist", async (t) => {
  const file = path.join(await newFolder(t), "admin-token");
  assert.equal(await readPrivate(file), undefined);
  await writeWhole(file, "secret\n");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(await readPrivate(file), "secret\n");
});

for (const mode of [0o644, 0o640, 0o604, 0o660]) {
  test(`rejects a key with mode ${mode.toString(8)}`, { skip: process.platform === "win32" }, async (t) => {
    const file = path.join(await newFolder(t), "ca.key");
    await writeWhole(file, "secret");
    await chmod(file, mode);
    await assert.rejects(readPrivate(file), /ca\.key is accessible to other users \(mode 0\d+\); .*chmod 600/);
  });
}

for (const mode of [0o777, 0o770, 0o702]) {
  test(`rejects a folder with mode ${mode.toString(8)}`, { skip: process.platform === "win32" }, async (t) => {
    const folder = path.join(await newFolder(t), "data");
    await mkdir(folder);
    await chmod(folder, mode);
    await assert.rejects(
      whileLocked(folder, async () => {}),
      /data is writable by other users \(mode 0\d+\), .*chmod 700/,
    );
  });
}

test("writes a .gitignore into an existing folder that has none, and keeps one that is there", async (t) => {
  const folder = await newFolder(t);
  const file = path.join(folder, ".gitignore");
  await whileLocked(folder, async () => {});
  assert.equal(await readFile(file, "utf8"), "*\n");
  await writeFile(file, "*.key\n");
  await whileLocked(folder, async () => {});
  assert.equal(await readFile(file, "utf8"), "*.key\n");
});
