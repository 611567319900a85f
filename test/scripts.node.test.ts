import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { suite, test } from "node:test";
import { GROUPS } from "../tools/run-table.ts";

const root = path.join(import.meta.dirname, "..");

async function run(...args: string[]) {
  const child = spawn(process.execPath, ["tools/run.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  for (const [name, stream] of [["out", child.stdout] as const, ["err", child.stderr] as const]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said[name] += chunk;
    });
  }
  const [code] = await once(child, "close");
  return { code, ...said };
}

suite("tools/run.ts", () => {
  for (const script of ["bench", "fuzz", "compare"]) {
    test(`lists the programs of ${script} when no name is given`, async () => {
      const { code, out } = await run(script);
      assert.equal(code, 0);
      const listed = out.split("\n").map((line) => line.trim().replace(/ {2,}/, ": "));
      for (const { name, does } of GROUPS[script]?.programs ?? assert.fail()) {
        assert.ok(listed.includes(`${name}: ${does}`), name);
      }
    });
  }

  test("rejects an unknown name and lists those that exist", async () => {
    const { code, out, err } = await run("bench", "nothing");
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^npm run bench: no program "nothing"\n[\s\S]*\n {2}startup /);
  });

  test("passes arguments, output and the exit code on", async () => {
    const help = await run("compare", "golden", "--help");
    assert.equal(help.code, 0);
    assert.match(help.out, /--store memory\|sqlite\|etcd/);
    const wrong = await run("compare", "cluster", "--no-such-option");
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /--no-such-option/);
  });
});
