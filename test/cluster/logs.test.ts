import assert from "node:assert/strict";
import { test } from "node:test";
import { readErrors, repeatedErrors } from "./logs.ts";

const klog = (text: string, severity = "E") => `${severity}1115 21:34:18.309908    8034 some_file.go:276] ${text}`;
const conflict = (name: string) =>
  klog(`"x" err="Operation cannot be fulfilled on things \\"${name}\\": the object has been modified; please"`);

test("errors are counted by their form", () => {
  const stage = (pod: string) =>
    JSON.stringify({ time: "", level: "ERROR", msg: "failed", err: `pods "${pod}" not found` });
  const logs = {
    manager: [conflict("a"), conflict("b"), klog("all is well", "I"), klog('sync key="demo/a-1" 12')].join("\n"),
    kwok: [stage("a"), JSON.stringify({ time: "", level: "INFO", msg: "started" })].join("\n"),
  };
  const errors = readErrors(logs);
  assert.deepEqual(Object.fromEntries(errors.forms), {
    "conflict: the object has been modified": 2,
    "manager: some_file.go sync key=OBJECT N": 1,
    "pod not found": 1,
  });
  assert.deepEqual(repeatedErrors(errors, []), [["conflict: the object has been modified", 2]]);
  assert.deepEqual(repeatedErrors(errors, ["conflict: the object has been modified"]), []);
});

test("a refusal of access is found at any severity, one of admission is none", () => {
  const lines = [
    klog('pods is forbidden: User "x" cannot list resource "pods"', "W"),
    klog("Unauthorized", "I"),
    klog('"Response" status="403 Forbidden"', "I"),
    klog('pods "x" is forbidden: exceeded quota: quota'),
    klog("403 pods deleted", "I"),
    klog('Node "x" is invalid: spec.podCIDRs: Forbidden: node updates may not change podCIDR'),
  ];
  assert.equal(readErrors({ manager: lines.join("\n") }).refusals.length, 3);
});

test("errors and refusals of Binnacle itself are found in its JSON lines", () => {
  const line = (level: number, stack: string) =>
    JSON.stringify({ level, controller: "job-controller", msg: "failed", err: { message: "403 Forbidden", stack } });
  const binnacle = [line(40, ""), line(50, "at src/access/admission/x.ts"), line(50, "at src/access/rbac.ts")].join(
    "\n",
  );
  const { forms, refusals } = readErrors({ binnacle });
  assert.deepEqual([...forms], [["binnacle: job-controller failed: N Forbidden", 2]]);
  assert.equal(refusals.length, 2);
});
