import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const suite = path.join(import.meta.dirname, "..", "..", "src", "programs", "testing", "time-and-randomness.suite.ts");
const program = `
  import { sameRequests } from ${JSON.stringify(pathToFileURL(suite).href)};
  console.log(JSON.stringify(await sameRequests(42)));
`;

test("two processes respond to the same requests with the same bytes if seed and clock are the same", async () => {
  const run = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", program]);
    return JSON.parse(stdout) as string[];
  };
  const first = await run();
  assert.ok(first.length > 10);
  assert.deepEqual(await run(), first);
});
