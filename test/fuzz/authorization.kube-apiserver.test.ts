import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { needs } from "../support/tools.ts";
import { DecisionTwins, fuzzDecisions, printDecisions } from "./authorization.ts";

const PLURALS = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];

/** An object without what each server makes up for itself. */
function comparable({ metadata, ...rest }: JsonObject): JsonObject {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, managedFields, ...kept } = metadata as JsonObject;
  const owners = (managedFields as JsonObject[]).map(({ time: ____, ...owner }) => owner);
  return { ...rest, metadata: { ...kept, managedFields: owners } };
}

suite("authorization beside the real kube-apiserver", { ...needs("kube-apiserver", "etcd") }, () => {
  test("bootstrap roles and bindings are the same, and so is every decision", async (t) => {
    const twins = await DecisionTwins.start();
    t.after(() => twins.stop());
    for (const plural of PLURALS) {
      const lists = twins.clients.map(async (client) => {
        const { body } = await client.call("GET", `/apis/rbac.authorization.k8s.io/v1/${plural}`);
        return (body.items as JsonObject[]).map(comparable);
      });
      const [theirs, ours] = await Promise.all(lists);
      assert.ok(theirs && theirs.length > 5);
      assert.deepEqual(ours, theirs, plural);
    }
    // One seed, so that a run is as good as the one before; `npm run fuzz authorization` takes another each time.
    const findings = await fuzzDecisions(twins, Number(process.env.FUZZ_SEED ?? 2), 2000);
    t.diagnostic(printDecisions(findings));
    assert.equal(findings.found.length, 0, printDecisions(findings));
  });
});
