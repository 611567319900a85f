import assert from "node:assert/strict";
import { test } from "node:test";
import { RUNNABLE_CONTROLLERS } from "../../../cluster/controllers/manager/all.ts";
import { DEFAULT_CONTROLLERS } from "../../../cluster/controllers/manager/default-controllers.ts";
import { MANAGER_CONTROLLERS } from "../../../cluster/controllers/manager/manager-controllers.ts";
import { activityOf, describeActivity, together } from "./summary.ts";

test("lists what does not happen, unless a controller does it", () => {
  const withoutOf = (name: string) => MANAGER_CONTROLLERS.find((one) => one.name === name)?.without ?? "";
  const all = activityOf({ controllers: "*" });
  const byDefault = activityOf({ controllers: DEFAULT_CONTROLLERS });
  assert.deepEqual(
    all.runs,
    RUNNABLE_CONTROLLERS.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
  );
  assert.match(describeActivity({ controllers: "*" }), /^Controllers: {2}all that the server has\n/);
  for (const name of all.runs) assert.ok(!all.missing.includes(withoutOf(name)), name);
  assert.ok(byDefault.missing.includes(withoutOf("deployment-controller")));
  assert.deepEqual(byDefault.runs, DEFAULT_CONTROLLERS.split(","));
  const fewer = activityOf({ controllers: "*,-namespace-controller" });
  assert.ok(fewer.missing.includes(withoutOf("namespace-controller")));
  assert.deepEqual(activityOf({ controllers: "*,-namespace" }).missing, fewer.missing);
  const none = activityOf({ controllers: "none" });
  assert.deepEqual(none.runs, []);
  assert.equal(none.missing.length, 1 + MANAGER_CONTROLLERS.filter(({ without }) => without !== undefined).length);
  assert.match(describeActivity({ controllers: "none" }), /^Controllers: {2}none\nLimits: {7}no scheduler/);
});

test("describes a simulated cluster", () => {
  const text = describeActivity({ controllers: "*", scheduler: true, simulatedNodes: 3 });
  assert.match(text, /^Cluster: {6}scheduler, 3 simulated nodes\nLimits: {7}nodes are simulated: /m);
  assert.match(describeActivity({ controllers: "*", simulatedNodes: 1 }), /^Cluster: {6}1 simulated node\n/m);
  const missing = [{ scheduler: true }, { simulatedNodes: 1 }].map(
    (actors) => activityOf({ controllers: "*", ...actors }).missing[0],
  );
  assert.deepEqual(missing, ["no kubelet: Pods stay Pending", "no scheduler: Pods without spec.nodeName stay Pending"]);
});

test("combines sentences with the same predicate", () => {
  const sentences = together(activityOf({ controllers: "none" }).missing);
  assert.ok(sentences.includes("DaemonSets, Jobs, ReplicaSets and StatefulSets create no Pods"));
  assert.ok(sentences.includes("deleted PersistentVolumes and deleted PersistentVolumeClaims keep their finalizer"));
  assert.ok(sentences.includes("approved CertificateSigningRequests get no certificate"));
});

test("describes limits in four lines at most", () => {
  for (const controllers of ["*", DEFAULT_CONTROLLERS, "none"]) {
    const [, limits = ""] = describeActivity({ controllers }).split("Limits: ");
    assert.ok(limits.split("\n").length <= 4, limits);
    assert.match(limits, /binnacle controllers$/);
  }
});

test("describes what is missing without each default controller", () => {
  for (const name of DEFAULT_CONTROLLERS.split(",")) {
    assert.ok(
      MANAGER_CONTROLLERS.some((one) => one.name === name && one.without !== undefined),
      name,
    );
  }
});
