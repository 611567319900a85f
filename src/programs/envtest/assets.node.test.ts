import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { writeAssets } from "./assets.ts";

test("writes launchers only into a folder that no other user can write to", {
  skip: process.platform === "win32",
}, async (t) => {
  const cache = await mkdtemp(path.join(tmpdir(), "binnacle-assets-"));
  t.after(() => rm(cache, { recursive: true }));
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const env = { PATH: "", XDG_CACHE_HOME: cache };
  const write = () =>
    writeAssets({ node: process.execPath, cli: "/cli.js", isShared: true, env, platform: process.platform });
  const folder = await write();
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  assert.equal((await stat(path.join(folder, "kube-apiserver"))).mode & 0o777, 0o700);
  for (const open of [folder, path.dirname(folder)]) {
    await chmod(open, 0o777);
    await assert.rejects(write(), /is writable by other users \(mode 0777\)/);
    await chmod(open, 0o700);
  }
  await rm(folder, { recursive: true });
  await mkdir(folder, { mode: 0o777 });
  await assert.rejects(write(), /is writable by other users/);
});
