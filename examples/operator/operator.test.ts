import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { AppsV1Api, CoreV1Api, CustomObjectsApi } from "@kubernetes/client-node";
import { forkPerTest, startControlPlane } from "binnacle/testing";
import { WebsiteOperator } from "./operator.ts";
import { WEBSITES, type Website } from "./website.ts";

const file = (name: string) => readFileSync(new URL(`deploy/${name}`, import.meta.url), "utf8");

// Every test gets its own fork of this control plane. The built-in controllers run, so owner references have an effect.
const cp = forkPerTest(hooks, {
  clock: { at: "2026-01-01T00:00:00Z" },
  crds: file("crd.yaml"),
  manifests: file("rbac.yaml"),
});

const namespace = "default";
const blog = { name: "blog", namespace };
const core = () => cp().client(CoreV1Api);
const apps = () => cp().client(AppsV1Api);
const websites = () => cp().client(CustomObjectsApi);

const WEBSITE = { apiVersion: "web.example/v1", kind: "Website", metadata: blog };
const apply = (spec: Partial<Website["spec"]> = {}, metadata = blog) =>
  cp().apply({ ...WEBSITE, metadata, spec: { html: "<h1>Hi</h1>", ...spec } });
const website = (): Promise<Website> => websites().getNamespacedCustomObject({ ...WEBSITES, ...blog });
const ready = async () => (await website()).status?.conditions?.find(({ type }) => type === "Ready");
const deployment = () => apps().readNamespacedDeployment(blog);
const removeWebsite = () => websites().deleteNamespacedCustomObject({ ...WEBSITES, ...blog });
const isGone = (error: { code?: number }) => error.code === 404;

/** A DNS service in memory. `failures` calls of `remove` fail. */
class FakeDns {
  readonly domains = new Set<string>();
  failures = 0;

  async publish(domain: string): Promise<void> {
    this.domains.add(domain);
  }

  async remove(domain: string): Promise<void> {
    if (this.failures-- > 0) throw new Error("DNS is not available");
    this.domains.delete(domain);
  }
}

/** Starts the operator with the permissions of its ClusterRole. Its requests, watches and informers stay in process. */
function operate(dns = new FakeDns(), plane = cp()): Promise<WebsiteOperator> {
  const config = plane.as({ user: "system:serviceaccount:web-system:website-operator" }).kubeConfig();
  return WebsiteOperator.start(config, { dns, now: () => plane.clock.now(), retryMs: 1 });
}

/** Applies a website and lets the operator handle it. */
async function applied(...args: Parameters<typeof apply>): Promise<void> {
  await apply(...args);
  await cp().settled();
}

suite("a new website", () => {
  test("gets a ConfigMap with its page", async () => {
    await using _ = await operate();
    await applied();
    assert.deepEqual((await core().readNamespacedConfigMap(blog)).data, { "index.html": "<h1>Hi</h1>" });
  });

  test("gets a Deployment that serves the page", async () => {
    await using _ = await operate();
    await applied({ replicas: 2, image: "httpd" });
    const { spec } = await deployment();
    assert.equal(spec?.replicas, 2);
    assert.equal(spec?.template.spec?.containers[0]?.image, "httpd");
    assert.equal(spec?.template.spec?.volumes?.[0]?.configMap?.name, "blog");
  });

  test("gets a Service that selects its Pods", async () => {
    await using _ = await operate();
    await applied();
    const { spec } = await core().readNamespacedService(blog);
    assert.deepEqual(spec?.selector, (await deployment()).spec?.template.metadata?.labels);
  });

  test("has defaults", async () => {
    await apply();
    const { spec } = await website();
    assert.deepEqual([spec.image, spec.replicas], ["nginx:1.29", 1]);
  });

  test("owns its objects", async () => {
    await using _ = await operate();
    await applied();
    const { uid } = (await website()).metadata ?? {};
    const [owner] = (await deployment()).metadata?.ownerReferences ?? [];
    assert.deepEqual([owner?.kind, owner?.name, owner?.uid, owner?.controller], ["Website", "blog", uid, true]);
  });

  test("is handled if it is older than the operator", async () => {
    await apply();
    await using _ = await operate();
    await cp().settled();
    assert.equal((await deployment()).metadata?.name, "blog");
  });

  test("does not touch a website of the same name in another namespace", async () => {
    await core().createNamespace({ body: { metadata: { name: "other" } } });
    await using _ = await operate();
    await applied({ replicas: 1 });
    await applied({ replicas: 5 }, { name: "blog", namespace: "other" });
    assert.equal((await deployment()).spec?.replicas, 1);
    assert.equal((await apps().readNamespacedDeployment({ name: "blog", namespace: "other" })).spec?.replicas, 5);
  });
});

suite("a change", () => {
  test("of the replicas scales the Deployment", async () => {
    await using _ = await operate();
    await applied({ replicas: 1 });
    await applied({ replicas: 4 });
    assert.equal((await deployment()).spec?.replicas, 4);
  });

  test("of the page replaces the Pods", async () => {
    await using _ = await operate();
    await applied();
    const before = (await deployment()).spec?.template.metadata?.annotations;
    await applied({ html: "<h1>New</h1>" });
    assert.notDeepEqual((await deployment()).spec?.template.metadata?.annotations, before);
  });

  test("of nothing writes nothing", async () => {
    await using operator = await operate();
    await applied();
    const { metadata } = await website();
    const versions = (await cp().history(await deployment())).length;
    await operator.resync();
    await cp().settled();
    assert.equal((await website()).metadata?.resourceVersion, metadata?.resourceVersion);
    assert.equal((await cp().history(await deployment())).length, versions);
  });

  test("of the domain is rejected", async () => {
    await apply({ domain: "a.example" });
    await assert.rejects(apply({ domain: "b.example" }), /domain is immutable/);
  });

  test("of a managed field by another client is reverted", async () => {
    await using _ = await operate();
    await applied({ replicas: 2 });
    const body = [{ op: "replace", path: "/spec/replicas", value: 9 }];
    await apps().patchNamespacedDeployment({ ...blog, body });
    await cp().settled();
    assert.equal((await deployment()).spec?.replicas, 2);
  });

  test("of an unmanaged field by another client stays", async () => {
    await using _ = await operate();
    await applied();
    const body = [{ op: "add", path: "/metadata/annotations", value: { team: "web" } }];
    await apps().patchNamespacedDeployment({ ...blog, body });
    await applied({ replicas: 3 });
    assert.equal((await deployment()).metadata?.annotations?.team, "web");
  });

  test("that deletes a Service makes the operator create another", async () => {
    await using _ = await operate();
    await applied();
    const { uid } = (await core().readNamespacedService(blog)).metadata ?? {};
    await core().deleteNamespacedService(blog);
    await cp().settled();
    assert.notEqual((await core().readNamespacedService(blog)).metadata?.uid, uid);
  });
});

suite("the status", () => {
  test("is not ready before the Deployment is available", async () => {
    await using _ = await operate();
    await applied();
    const { status, reason } = (await ready()) ?? {};
    assert.deepEqual([status, reason], ["False", "Deploying"]);
  });

  test("is ready when the Deployment is available", async () => {
    await using _ = await operate();
    await applied();
    await cp().makeAvailable(await deployment());
    await cp().settled();
    assert.equal((await ready())?.status, "True");
    assert.equal((await website()).status?.url, "http://blog.default.svc");
  });

  test("is ready when its Pods are ready, with the controllers of a cluster", async () => {
    await using cluster = await startControlPlane({
      controllers: "*",
      crds: file("crd.yaml"),
      manifests: [file("rbac.yaml"), { ...WEBSITE, spec: { html: "<h1>Hi</h1>", replicas: 2 } }],
    });
    await using _ = await operate(new FakeDns(), cluster);
    await cluster.settled();
    const { items } = await cluster.client({ apiVersion: "v1", kind: "Pod", plural: "pods" }).list();
    assert.equal(items.length, 2);
    for (const pod of items) await cluster.makeAvailable(pod);
    await cluster.settled();
    const { status } = await cluster.client(AppsV1Api).readNamespacedDeployment(blog);
    assert.equal(status?.availableReplicas, 2);
    const site: Website = await cluster.client(CustomObjectsApi).getNamespacedCustomObject({ ...WEBSITES, ...blog });
    assert.equal(site.status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
  });

  test("reports why a Deployment fails", async () => {
    await using _ = await operate();
    await applied();
    const failed = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
    await cp().setStatus(await deployment(), { conditions: [failed] });
    await cp().settled();
    assert.equal((await ready())?.reason, "ProgressDeadlineExceeded");
  });

  test("is not ready while a new page is rolled out", async () => {
    await using _ = await operate();
    await applied();
    await cp().makeAvailable(await deployment());
    await applied({ html: "<h1>New</h1>" });
    assert.equal((await ready())?.status, "False");
    assert.equal((await website()).status?.observedGeneration, 2);
  });

  test("keeps the time of a condition that does not change", async () => {
    await using operator = await operate();
    await applied();
    await cp().clock.advance({ hours: 1 });
    await operator.resync();
    await cp().settled();
    assert.equal((await ready())?.lastTransitionTime, "2026-01-01T00:00:00Z");
    await cp().makeAvailable(await deployment());
    await cp().settled();
    assert.equal((await ready())?.lastTransitionTime, "2026-01-01T01:00:00Z");
  });
});

suite("a deleted website", () => {
  test("takes its objects with it", async () => {
    await using _ = await operate();
    await applied();
    await removeWebsite();
    await cp().settled();
    await assert.rejects(deployment(), isGone);
    await assert.rejects(core().readNamespacedService(blog), isGone);
    await assert.rejects(core().readNamespacedConfigMap(blog), isGone);
  });

  test("gives its domain back, even if that fails at first", async () => {
    const dns = new FakeDns();
    await using _ = await operate(dns);
    await applied({ domain: "blog.example" });
    assert.deepEqual([...dns.domains], ["blog.example"]);
    dns.failures = 2;
    await removeWebsite();
    await cp().settled();
    assert.deepEqual([...dns.domains], []);
    await assert.rejects(website(), isGone);
  });

  test("is deleted by the operator when it expires", async () => {
    await using operator = await operate();
    await applied({ expiresAfterSeconds: 3600 });
    await cp().clock.advance({ minutes: 59 });
    await operator.resync();
    await cp().settled();
    assert.equal((await website()).metadata?.name, "blog");
    await cp().clock.advance({ minutes: 1 });
    await operator.resync();
    await cp().settled();
    await assert.rejects(website(), isGone);
  });
});

suite("the operator", () => {
  test("retries after conflicting writes", async () => {
    await using _ = await operate();
    cp().faults.conflict({ verb: "update", resource: "websites", subresource: "status", times: 2 });
    await applied();
    assert.deepEqual(cp().faults.unused(), []);
    assert.equal((await ready())?.reason, "Deploying");
  });

  test("retries while the server is unavailable", async () => {
    await using _ = await operate();
    cp().faults.error({ verb: "patch", resource: "services", code: 503, times: 3 });
    await applied();
    assert.deepEqual(cp().faults.unused(), []);
    assert.equal((await deployment()).metadata?.name, "blog");
  });

  test("recovers from broken and expired watches", async () => {
    await using _ = await operate();
    cp().faults.cutWatches({ resource: "websites" });
    cp().faults.expireWatches({ resource: "deployments" });
    await applied({ replicas: 3 });
    assert.deepEqual(cp().faults.unused(), []);
    assert.equal((await deployment()).spec?.replicas, 3);
  });

  // An operator that used the object of the event instead of reading it again would write 7 replicas here.
  test("ignores the outdated object of a delayed event", async () => {
    await using _ = await operate();
    await applied({ replicas: 2 });
    cp().faults.delayEvents({ resource: "websites", name: "blog", by: { seconds: 30 }, times: 1 });
    await applied({ replicas: 7 });
    await applied({ replicas: 1 });
    assert.equal((await deployment()).spec?.replicas, 2, "the operator has not seen the change yet");
    await cp().clock.advance({ seconds: 30 });
    await cp().settled();
    const versions = await cp().history(await deployment());
    const written = versions.map(({ object }) => (object.spec as { replicas: number }).replicas);
    assert.deepEqual(written, [2, 1], "7 was never written");
  });
});
