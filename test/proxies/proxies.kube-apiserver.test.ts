import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { suite, test } from "node:test";
import { startProcess } from "../support/process.ts";
import { needs } from "../support/tools.ts";
import { PROXY_CASES } from "./cases.ts";

/** Neither server proxies to loopback: pods are at an address that only a network namespace of the test has. */
const ADDRESS = "10.11.12.13";
const SETUP = `ip link set lo up && ip addr add ${ADDRESS}/32 dev lo`;

function namespaceMissing(): string | undefined {
  const { status, stderr, error } = spawnSync("unshare", ["-rn", "sh", "-c", SETUP], { encoding: "utf8" });
  if (status === 0) return undefined;
  return `no network namespace can be had: ${error?.message ?? stderr.trim()}`;
}

const skip = needs("kube-apiserver", "etcd").skip ?? namespaceMissing();

suite("proxies, with Binnacle and with the real server", { ...(skip && { skip }) }, () => {
  test("the backend hears the same, and the client is told the same", async (t) => {
    const twins = path.join(import.meta.dirname, "twins.ts");
    let output = "";
    const command = `${SETUP} && exec "$0" "$1" ${ADDRESS}`;
    const onOutput = (chunk: string): void => {
      output += chunk;
    };
    const asking = await startProcess("unshare", ["-rn", "sh", "-c", command, process.execPath, twins], { onOutput });
    t.after(() => asking.kill());
    const ended = await asking.exited;
    assert.equal(ended, "unshare ended with code 0", output.slice(-4000));
    const results = output.split("\n").filter((line) => line.startsWith('{"name"'));
    assert.equal(results.length, PROXY_CASES.length);
    for (const line of results) {
      const { name, difference, ours, theirs } = JSON.parse(line);
      await t.test(name, () => {
        if (difference === undefined) assert.deepEqual(ours, theirs);
        else assert.notDeepEqual(ours, theirs, `not so any more: ${difference}`);
      });
    }
  });
});
