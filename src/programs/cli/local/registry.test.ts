import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type DataFolder, dataFolder } from "./data-folder.ts";
import { register, registered, unregister } from "./registry.ts";

async function setup(t: TestContext) {
  const home = await mkdtemp(path.join(tmpdir(), "binnacle-registry-"));
  t.after(() => rm(home, { recursive: true }));
  const io = { env: { HOME: home }, cwd: home };
  const records = path.join(home, ".local", "state", "binnacle", "instances");
  /** A data folder whose record names a process. */
  const folderOf = async (name: string, pid: number | undefined): Promise<DataFolder> => {
    const folder = dataFolder(name, io);
    await mkdir(folder.path, { recursive: true });
    await writeFile(
      path.join(folder.path, "instance.json"),
      JSON.stringify({ pid, url: "https://127.0.0.1:1", port: 1 }),
    );
    return folder;
  };
  return { io, records, folderOf };
}

test("lists registered data folders until they are unregistered", async (t) => {
  const { io, records, folderOf } = await setup(t);
  assert.deepEqual(await registered(io), []);
  const [a, b] = [await folderOf("a", process.pid), await folderOf("b", process.pid)];
  await register(a, io);
  await register(a, io);
  await register(b, io);
  assert.equal((await stat(records)).mode & 0o777, 0o700);
  const paths = (await registered(io)).map((folder) => folder.path);
  assert.deepEqual(paths.sort(), [a.path, b.path].sort());
  await unregister(a, io);
  assert.deepEqual(await registered(io), [b]);
});

test("removes records of stopped control planes", async (t) => {
  const { io, records, folderOf } = await setup(t);
  await register(await folderOf("stopped", undefined), io);
  await register(dataFolder("deleted", io), io);
  assert.deepEqual(await registered(io), []);
  assert.deepEqual(await readdir(records), []);
});

test("ignores records that name no folder", async (t) => {
  const { io, records } = await setup(t);
  await mkdir(records, { recursive: true });
  const texts = ["", "[]", "{", '{"dataDir":5}', '{"dataDir":"relative"}'];
  for (const [at, text] of texts.entries()) await writeFile(path.join(records, `${at}.json`), text);
  assert.deepEqual(await registered(io), []);
});

test("does not fail if the state folder cannot be written", async (t) => {
  const { io, folderOf } = await setup(t);
  await writeFile(path.join(io.cwd, "file"), "");
  const other = { ...io, env: { ...io.env, XDG_STATE_HOME: path.join(io.cwd, "file") } };
  await register(await folderOf("a", process.pid), other);
  assert.deepEqual(await registered(other), []);
});
