import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { readManifests } from "./manifests.ts";

const MEGABYTE = Buffer.alloc(1024 * 1024, "#");

/** Reads manifests from a standard input of so many megabytes of comments. */
async function readStandardInput(megabytes: number) {
  const own = Object.getOwnPropertyDescriptor(process, "stdin") ?? {};
  Object.defineProperty(process, "stdin", {
    configurable: true,
    value: Readable.from(Array(megabytes).fill(MEGABYTE)),
  });
  try {
    return await readManifests(["-"], "/", "--filename");
  } finally {
    Object.defineProperty(process, "stdin", own);
  }
}

test("rejects standard input that is too large instead of truncating it", async () => {
  assert.deepEqual(await readStandardInput(2), []);
  await assert.rejects(readStandardInput(65), { message: "--filename -: is larger than 67108864 bytes" });
});

test("rejects devices and whatever else a folder has instead of files", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-manifests-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, "a.yaml"), "");
  assert.deepEqual(await readManifests(["."], folder, "-f"), []);
  await symlink("loop.yaml", path.join(folder, "loop.yaml"));
  await assert.rejects(readManifests(["."], folder, "-f"), { message: "-f ./loop.yaml: is not a regular file" });
  await rm(path.join(folder, "loop.yaml"));
  await symlink("/dev/zero", path.join(folder, "zero.yaml"));
  await assert.rejects(readManifests(["."], folder, "-f"), { message: "-f ./zero.yaml: is not a regular file" });
  await assert.rejects(readManifests(["zero.yaml"], folder, "-f"), {
    message: "-f zero.yaml: is a device, expected a file",
  });
  await assert.rejects(readManifests(["missing"], folder, "-f"), { message: "-f missing: no such file or folder" });
});
