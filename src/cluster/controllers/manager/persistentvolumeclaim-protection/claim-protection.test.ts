import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { until } from "../../shared/controllers.suite.ts";
import { claimSpec, VolumeCluster } from "../volumes.suite.ts";
import { claimProtection } from "./claim-protection.ts";

const FINALIZER = "kubernetes.io/pvc-protection";
const CLAIMS = "persistentvolumeclaims";
const ON_NODE = { nodeName: "node" };

suite("persistentvolumeclaim-protection-controller", () => {
  let cluster: VolumeCluster;

  beforeEach(() => {
    cluster = new VolumeCluster();
    cluster.start(claimProtection(cluster));
  });
  afterEach(() => cluster.end());

  const create = async (name = "data") => {
    await cluster.addClaim(name);
    await until(async () => (await cluster.claim(name))?.metadata.finalizers?.includes(FINALIZER) === true);
  };
  const bind = (name = "data") => cluster.merge(CLAIMS, name, { status: { phase: "Bound" } }, "status");
  const unused = async () =>
    (await cluster.claim("data"))?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  /** Later claims are synced after earlier ones, by a single worker. */
  const settle = async () => {
    await create("other");
    await cluster.remove(CLAIMS, "other");
    await cluster.isGone(CLAIMS, "other");
  };

  test("adds the finalizer, and removes it from a deleted claim that no Pod uses", async () => {
    await create();
    await cluster.remove(CLAIMS, "data");
    await cluster.isGone(CLAIMS, "data");
  });

  test("keeps a deleted claim while a Pod with a node uses it", async () => {
    await create();
    await cluster.addPod("web", "data", ON_NODE);
    await cluster.remove(CLAIMS, "data");
    await settle();
    assert.ok(await cluster.claim("data"));
    await cluster.delete("pods", "web", { gracePeriodSeconds: 0 });
    await cluster.isGone(CLAIMS, "data");
  });

  test("does not wait for Pods without a node", async () => {
    await create();
    await cluster.addPod("web", "data");
    await cluster.remove(CLAIMS, "data");
    await cluster.isGone(CLAIMS, "data");
  });

  test("counts an ephemeral volume only if its Pod owns the claim", async () => {
    const ephemeral = { volumeClaimTemplate: { spec: claimSpec() } };
    const pod = await cluster.addPod("web", "x", { ...ON_NODE, volumes: [{ name: "data", ephemeral }] });
    const owner = { apiVersion: "v1", kind: "Pod", name: "web", uid: pod.metadata.uid ?? "", controller: true };
    await cluster.addClaim("web-data", claimSpec(), { finalizers: [FINALIZER], ownerReferences: [owner] });
    await cluster.remove(CLAIMS, "web-data");
    await settle();
    assert.ok(await cluster.claim("web-data"));
    await cluster.merge(CLAIMS, "web-data", { metadata: { ownerReferences: null } });
    await cluster.isGone(CLAIMS, "web-data");
  });

  test("sets the condition Unused of bound claims", async () => {
    await create();
    await settle();
    assert.equal(await unused(), undefined);
    await bind();
    await until(async () => (await unused())?.join() === "Unused=True NoPodsUsingPVC");
    await cluster.addPod("web", "data");
    await until(async () => (await unused())?.join() === "Unused=False PodUsingPVC");
    await cluster.setPod("web", "Succeeded");
    await until(async () => (await unused())?.join() === "Unused=True NoPodsUsingPVC");
  });
});
