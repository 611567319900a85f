import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { eventually } from "./time.ts";

const module = pathToFileURL(path.join(import.meta.dirname, "process.ts"));
const program = `
  import { startProcess } from "${module}";
  const { pid } = await startProcess(process.execPath, ["--eval", "net.createServer().listen(0, '127.0.0.1')"]);
  console.log(pid);
`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

suite("programs that a test starts", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    test(`end with a process that gets ${signal}`, async () => {
      const parent = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(parent, "exit");
      const [line] = await once(createInterface(parent.stdout), "line");
      const pid = Number(line);
      assert.ok(isRunning(pid));
      parent.kill(signal);
      assert.deepEqual(await ended, [code, null]);
      await eventually(() => !isRunning(pid), { what: "the program has ended" });
    });
  }
});
