import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { needs, requireTool } from "../../../test/support/tools.ts";
import { flagTypes } from "./apiserver-flags.ts";
import { apiserverGates } from "./apiserver-gates.ts";

const HIDDEN = [
  "apiserver-count",
  "audit-webhook-batch-initial-backoff",
  "default-watch-cache-size",
  "kubelet-port",
  "kubelet-read-only-port",
];

suite("the known command line of kube-apiserver", needs("kube-apiserver"), () => {
  const printed = async () => (await promisify(execFile)(requireTool("kube-apiserver"), ["--help"])).stdout;

  test("has every flag, with the type of its value", async () => {
    const flags = [...(await printed()).matchAll(/^ {2,6}(?:-\w, )?--([a-z0-9-]+)(?: (\S+))?(?= )/gm)];
    const found = flags.map(([, name = "", type = "bool"]) => [name, type] as const);
    const known = [...flagTypes].filter(([name]) => !HIDDEN.includes(name));
    const expected = found.filter(([name]) => name !== "help" && name !== "version");
    assert.deepEqual(known.toSorted(), expected.toSorted());
  });

  test("has every feature gate", async () => {
    const gates = [...(await printed()).matchAll(/^ +kube:(\w+)=/gm)].map(([, name = ""]) => name);
    assert.deepEqual([...apiserverGates].toSorted(), gates.toSorted());
  });
});
