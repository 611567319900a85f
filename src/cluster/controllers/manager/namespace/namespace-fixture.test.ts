import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { TestCluster, until } from "../../shared/controllers.suite.ts";
import { rootCaPublisher } from "../root-ca-publisher.ts";
import { serviceAccounts } from "../service-accounts.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
const ROOT_CA = "kube-root-ca.crt";

suite("objects in every namespace", () => {
  let cluster: TestCluster;

  beforeEach(async () => {
    cluster = new TestCluster();
    await cluster.create("namespaces", "early");
    cluster.start(serviceAccounts(cluster));
    cluster.start(rootCaPublisher(cluster, { rootCa: PEM }));
  });
  afterEach(async () => {
    await cluster.stop();
    assert.deepEqual(cluster.problems, []);
  });

  const both = async (namespace: string) =>
    (await cluster.find("serviceaccounts", "default", namespace)) !== undefined &&
    (await cluster.find("configmaps", ROOT_CA, namespace)) !== undefined;

  test("creates the objects in existing and new namespaces", async () => {
    await until(() => both("early"));
    await cluster.create("namespaces", "late");
    await until(() => both("late"));
    const map = await cluster.find("configmaps", ROOT_CA, "late");
    assert.deepEqual(map?.data, { "ca.crt": PEM });
    assert.match(map?.metadata.annotations?.["kubernetes.io/description"] ?? "", /^Contains a CA bundle that can be /);
  });

  test("recreates deleted objects", async () => {
    await until(() => both("early"));
    const before = await cluster.find("serviceaccounts", "default", "early");
    await cluster.delete("serviceaccounts", "default", {}, "early");
    await cluster.delete("configmaps", ROOT_CA, {}, "early");
    await until(() => both("early"));
    const after = await cluster.find("serviceaccounts", "default", "early");
    assert.notEqual(after?.metadata.uid, before?.metadata.uid);
  });

  test("restores the certificates, and keeps added metadata", async () => {
    await until(() => both("early"));
    await cluster.change(
      "configmaps",
      ROOT_CA,
      (map) => {
        map.data = { "ca.crt": "forged", other: "x" };
        map.metadata.annotations = { mine: "kept" };
      },
      "early",
    );
    await until(async () => {
      const map = await cluster.find("configmaps", ROOT_CA, "early");
      return JSON.stringify(map?.data) === JSON.stringify({ "ca.crt": PEM });
    });
    const { annotations } = (await cluster.find("configmaps", ROOT_CA, "early"))?.metadata ?? {};
    assert.equal(annotations?.mine, "kept");
    assert.match(annotations?.["kubernetes.io/description"] ?? "", /kubernetes\.default\.svc/);
  });

  test("creates nothing in a terminating namespace", async () => {
    await until(() => both("early"));
    await cluster.delete("namespaces", "early", {}, "");
    await cluster.delete("serviceaccounts", "default", {}, "early");
    await cluster.delete("configmaps", ROOT_CA, {}, "early");
    // Once a later namespace has been processed, the earlier deletions have been, too.
    await cluster.create("namespaces", "late");
    await until(() => both("late"));
    assert.equal(await cluster.find("serviceaccounts", "default", "early"), undefined);
    assert.equal(await cluster.find("configmaps", ROOT_CA, "early"), undefined);
  });
});
