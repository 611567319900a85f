import assert from "node:assert/strict";
import { test } from "node:test";
import { MANAGER_CONTROLLERS } from "../../controllers/manager-controllers.ts";
import { MANAGER_LOOPS } from "../../server/manager-loops.ts";
import { activityOf, describeActivity } from "./summary.ts";

test("what does not run is said as long as no loop does it", () => {
  const withoutOf = (name: string) => MANAGER_CONTROLLERS.find((one) => one.name === name)?.without ?? "";
  const all = activityOf("*");
  assert.deepEqual(
    all.runs,
    MANAGER_LOOPS.map(({ name }) => name),
  );
  for (const name of all.runs) assert.ok(!all.missing.includes(withoutOf(name)), name);
  assert.ok(all.missing.includes(withoutOf("deployment-controller")));
  const fewer = activityOf("*,-namespace-controller");
  assert.ok(fewer.missing.includes(withoutOf("namespace-controller")));
  const none = activityOf("none");
  assert.deepEqual(none.runs, []);
  assert.equal(none.missing.length, 1 + MANAGER_CONTROLLERS.filter(({ without }) => without !== undefined).length);
  assert.match(describeActivity("none"), /^Runs in it: {3}no controller\nDoes not run: no scheduler/);
});

test("what is true of several is said once", () => {
  const words = describeActivity("*").replaceAll(/\s+/g, " ");
  assert.match(words, /; DaemonSets, Jobs, ReplicaSets and StatefulSets make no Pods;/);
  assert.match(words, /; deleted PersistentVolumes and deleted PersistentVolumeClaims keep their finalizer;/);
  assert.match(words, /stay Pending; approved CertificateSigningRequests get no certificate;/);
});

test("every loop that runs by default would be missed", () => {
  for (const { name } of MANAGER_LOOPS) {
    assert.ok(
      MANAGER_CONTROLLERS.some((one) => one.name === name && one.without !== undefined),
      name,
    );
  }
});
