import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { resourceAttributes } from "../../base/api/attributes.ts";
import { systemClock } from "../../base/util/clock.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { TestCluster } from "../../cluster/controllers/shared/controllers.suite.ts";
import { type Authorization, authorization } from "./assemble.ts";
import { authorizersOfFlags } from "./configuration.ts";

suite("authorization by stored roles", () => {
  let cluster: TestCluster;
  let stop: AbortController;
  let rights: Authorization;
  let running: Promise<void>;

  const made = (modes: readonly string[]) =>
    authorization({
      authorizers: authorizersOfFlags({ modes }),
      source: cluster.resources,
      environment: { ...drivenEnvironment(), clock: systemClock },
      observer: { attempted() {}, failedOpen() {}, decided() {} },
      report: assert.ifError,
    });

  beforeEach(async () => {
    cluster = new TestCluster();
    stop = new AbortController();
    rights = await made(["RBAC"]);
    running = rights.run(stop.signal);
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await cluster.stop();
  });

  const decide = async (namespace: string) => {
    const user = { name: "alice", groups: [] };
    const wanted = { verb: "get", apiGroup: "", resource: "pods", namespace };
    return (await rights.authorizer.authorize(resourceAttributes(user, wanted))).decision;
  };

  test("a binding takes effect when it is created and ends when it is deleted", async () => {
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
    await cluster.create("roles", "reader", { content: { rules } });
    await rights.loaded(stop.signal);
    assert.equal(await decide("default"), "noOpinion");
    const subjects = [{ kind: "User", name: "alice" }];
    await cluster.create("rolebindings", "b", { content: { roleRef: { kind: "Role", name: "reader" }, subjects } });
    await rights.loaded(stop.signal);
    assert.equal(await decide("default"), "allow");
    assert.equal(await decide("other"), "noOpinion");
    await cluster.delete("rolebindings", "b");
    await rights.loaded(stop.signal);
    assert.equal(await decide("default"), "noOpinion");
  });

  test("rejects invalid modes, with kube-apiserver's messages where it has any", async () => {
    await assert.rejects(made([]), /at least one authorization-mode must be passed/);
    await assert.rejects(made(["RBAC", "RBAC"]), /has mode specified more than once/);
    await assert.rejects(made(["Rbac"]), /"Rbac" is not a valid mode/);
    await assert.rejects(made(["toString"]), /"toString" is not a valid mode/);
    await assert.rejects(made(["RBAC", "Webhook"]), /Webhook's authorization config file not passed/);
    await assert.rejects(made(["ABAC"]), /ABAC is not supported/);
  });
});
