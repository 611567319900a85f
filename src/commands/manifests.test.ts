import assert from "node:assert/strict";
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

test("standard input that is too long is refused, and not cut", async () => {
  assert.deepEqual(await readStandardInput(2), []);
  await assert.rejects(readStandardInput(65), { message: "--filename -: is larger than 67108864 bytes" });
});
