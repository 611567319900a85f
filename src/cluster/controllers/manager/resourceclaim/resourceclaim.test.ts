import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { ResourceClaim } from "../../shared/resource-claims.ts";
import { NodeCluster } from "../nodes.suite.ts";
import { resourceClaims } from "./resourceclaim.ts";

const FINALIZER = "resource.kubernetes.io/delete-protection";
const DEVICES = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] };
const RESULT = { request: "gpu", driver: "gpu.example.com", pool: "a", device: "gpu-0" };
const ALLOCATION = { devices: { results: [RESULT] } };

suite("resourceclaim-controller", () => {
  let cluster: NodeCluster;

  beforeEach(() => {
    cluster = new NodeCluster();
    cluster.start(resourceClaims(cluster));
  });
  afterEach(() => cluster.stop());

  const addTemplate = () =>
    cluster.post("resourceclaimtemplates", "gpu", {
      metadata: { labels: { team: "a" }, annotations: { note: "x" } },
      spec: { devices: DEVICES },
    });
  const addPod = (name: string, claim: JsonObject, spec: JsonObject = {}) => {
    const containers = [{ name: "main", image: "nginx" }];
    return cluster.post("pods", name, { containers, resourceClaims: [{ name: "gpu", ...claim }], ...spec });
  };
  const fromTemplate = { resourceClaimTemplateName: "gpu" };
  const claimList = () => cluster.list<ResourceClaim>("resourceclaims");
  const claim = async (name: string) => (await cluster.find("resourceclaims", name)) as ResourceClaim | undefined;
  const hasClaims = (count: number) => cluster.pass(async () => (await claimList()).length === count);
  const generatedName = async (pod: string) =>
    (await cluster.pod(pod))?.status?.resourceClaimStatuses?.find(({ name }) => name === "gpu")?.resourceClaimName;
  /** Stores what the scheduler writes: an allocation with its reservation. */
  const allocate = (name: string, ...podNames: readonly string[]) =>
    cluster.rewrite("resourceclaims", name, (object) => {
      object.metadata.finalizers = [FINALIZER];
      const reservedFor = podNames.map((pod) => ({ resource: "pods", name: pod, uid: uids.get(pod) ?? "" }));
      object.status = { allocation: ALLOCATION, ...(reservedFor.length > 0 && { reservedFor }) };
    });
  const uids = new Map<string, string>();
  const remember = async (pod: string) => uids.set(pod, (await cluster.pod(pod))?.metadata.uid ?? "");

  test("creates a claim from its template and names it in the status of the Pod", async () => {
    await addTemplate();
    const { uid = "" } = (await addPod("web", fromTemplate)).metadata;
    await cluster.pass(async () => (await generatedName("web")) !== undefined);
    const [created, ...more] = await claimList();
    assert.deepEqual(more, []);
    const { name = "", labels, annotations, ownerReferences } = created?.metadata ?? {};
    assert.match(name, /^web-gpu-[a-z0-9]{5}$/);
    assert.equal(await generatedName("web"), name);
    assert.deepEqual(labels, { team: "a" });
    assert.deepEqual(annotations, { note: "x", "resource.kubernetes.io/pod-claim-name": "gpu" });
    assert.deepEqual(ownerReferences, [{ apiVersion: "v1", kind: "Pod", name: "web", uid, controller: true }]);
    await cluster.delete("resourceclaims", name);
    await cluster.pass(async () => ![undefined, name].includes(await generatedName("web")));
    assert.deepEqual(cluster.problems, []);
  });

  test("waits for a template", async () => {
    await addPod("web", fromTemplate);
    const cause = `resource claim template "gpu": resourceclaimtemplate.resource.k8s.io "gpu" not found`;
    await cluster.hasNews(`Warning FailedResourceClaimCreation: PodResourceClaim gpu: ${cause}`, "web");
    await addTemplate();
    await hasClaims(1);
  });

  test("reserves an allocated claim for a Pod that already has a node", async () => {
    await cluster.post("resourceclaims", "shared", { devices: DEVICES });
    await addPod("web", { resourceClaimName: "shared" }, { nodeName: "a" });
    await remember("web");
    await allocate("shared");
    await cluster.pass(async () => (await claim("shared"))?.status?.reservedFor !== undefined);
    const uid = uids.get("web");
    assert.deepEqual((await claim("shared"))?.status?.reservedFor, [{ resource: "pods", name: "web", uid }]);
  });

  test("deallocates a claim when its last Pod has finished", async () => {
    await cluster.post("resourceclaims", "shared", { devices: DEVICES });
    for (const name of ["one", "two"]) {
      await addPod(name, { resourceClaimName: "shared" }, { nodeName: "a" });
      await remember(name);
    }
    await allocate("shared", "one", "two");
    await cluster.setPod("one", "Succeeded");
    await cluster.pass(async () => (await claim("shared"))?.status?.reservedFor?.length === 1);
    assert.ok((await claim("shared"))?.status?.allocation);
    await cluster.delete("pods", "two", { gracePeriodSeconds: 0 });
    await cluster.pass(async () => (await claim("shared"))?.metadata.finalizers === undefined);
    assert.deepEqual((await claim("shared"))?.status ?? {}, {});
  });

  test("deletes a generated claim when its Pod has finished", async () => {
    await addTemplate();
    await addPod("web", fromTemplate, { nodeName: "a" });
    await cluster.pass(async () => (await generatedName("web")) !== undefined);
    await remember("web");
    await allocate((await generatedName("web")) ?? "", "web");
    await cluster.setPod("web", "Failed");
    await hasClaims(0);
  });

  test("lets go of a deleted claim that is not reserved", async () => {
    await cluster.post("resourceclaims", "shared", { devices: DEVICES });
    await allocate("shared");
    await cluster.delete("resourceclaims", "shared");
    await hasClaims(0);
  });

  test("keeps reservations of other kinds", async () => {
    await cluster.post("resourceclaims", "shared", { devices: DEVICES });
    await allocate("shared", "gone");
    const other = { apiGroup: "example.com", resource: "things", name: "x", uid: "1" };
    await cluster.rewrite("resourceclaims", "shared", (object) => {
      Object.assign(object.status ?? {}, { reservedFor: [other, { resource: "pods", name: "gone", uid: "2" }] });
    });
    await cluster.pass(async () => (await claim("shared"))?.status?.reservedFor?.length === 1);
    assert.deepEqual((await claim("shared"))?.status?.reservedFor, [other]);
    assert.ok((await claim("shared"))?.status?.allocation);
  });
});
