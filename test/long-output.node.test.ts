import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

const cli = path.join(import.meta.dirname, "..", "src", "cli.ts");

test("a command that ends with a code of its own has written all that it printed into a pipe", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-long-output-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const data = { long: "x".repeat(900_000) };
  const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "long", namespace: "default" }, data };
  const file = path.join(folder, "long.json");
  await writeFile(file, JSON.stringify(manifest));
  const [code, printed] = await new Promise<[unknown, string]>((resolve) => {
    const args = [cli, "diff", "-f", file, "-o", "json"];
    execFile(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => {
      resolve([error?.code ?? 0, stdout]);
    });
  });
  assert.equal(code, 1);
  const { objects } = JSON.parse(printed) as { objects: { object: { data: unknown } }[] };
  assert.deepEqual(objects[0]?.object.data, data);
});
