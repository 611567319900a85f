import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, it } from "node:test";

describe("log lines", () => {
  const script = `
    const { systemEnvironment } = await import(${JSON.stringify(path.join(import.meta.dirname, "system-environment.ts"))});
    const { log } = systemEnvironment();
    for (let line = 0; line < 5000; line++) log.error("x".repeat(1000));
    process.stdout.write("done");
    process.stdin.once("data", () => setTimeout(() => log.info("still here"), 500)).once("end", () => {});`;
  const node = [process.execPath, "--input-type=module", "-e", script];

  it("do not block the process when stderr is a socket that is not read", async () => {
    const child = spawn(node[0] ?? "", node.slice(1), { stdio: "pipe" });
    const [done] = await once(child.stdout, "data");
    assert.equal(String(done), "done");
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    child.stdin.end("go on");
    assert.deepEqual(await once(child, "close"), [0, null]);
    const messages = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const dropped = messages.find(({ msg }) => msg === "log lines dropped because stderr was not read");
    assert.equal(messages.at(-1).msg, "still here");
    assert.equal(messages.length - 2 + dropped.count, 5000);
  });

  it("do not block the process when stderr is a pipe that is not read", async () => {
    const child = spawn("sh", ["-c", '{ "$@" 2>&1 >&3 | sleep 60; } 3>&1', "sh", ...node], {
      stdio: "pipe",
      detached: true,
    });
    const [done] = await once(child.stdout, "data");
    assert.equal(String(done), "done");
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await once(child, "close");
  });
});
