import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from "@kubernetes/client-node";
import { clientFor } from "../../../test/support/client.ts";
import { widgetsDefinition } from "../../base/util/widgets.suite.ts";
import { Widgets } from "../library/client/widgets.suite.ts";
import { startControlPlane } from "./control-plane.ts";
import { forkPerTest } from "./fork-per-test.ts";

const CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { colour: blue }\n";
const WIDGETS = widgetsDefinition({ size: { type: "integer", default: 3 } });
const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } };

const cp = forkPerTest(hooks, { manifests: CONFIG_MAP, crds: WIDGETS });
const core = (plane = cp()) => plane.client(CoreV1Api);
const namesIn = async (plane = cp()) =>
  (await core(plane).listNamespacedConfigMap({ namespace: "default" })).items.map(({ metadata }) => metadata?.name);
const text = async (plane = cp(), path = "/api/v1/namespaces/default/configmaps") => (await plane.fetch(path)).text();

const RBAC = "rbac.authorization.k8s.io";
const PAINTERS = [
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: "painter" } },
    rules: [{ apiGroups: ["shop.example"], resources: ["widgets"], verbs: ["create"] }],
  },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: "painters" } },
    subjects: [{ kind: "Group", name: "painters", apiGroup: RBAC }],
    roleRef: { kind: "ClusterRole", name: "painter", apiGroup: RBAC },
  },
];

suite("a control plane for a test", () => {
  test("has the given objects, and serves its address like any server", async () => {
    const answer = await clientFor(cp().url, cp().token).call("GET", "/api/v1/namespaces/default/configmaps/settings");
    assert.deepEqual(answer.body.data, { colour: "blue" });
    assert.equal((await cp().fetch("/readyz")).status, 200);
    const config = new KubeConfig();
    config.loadFromString(cp().kubeconfig);
    assert.equal(config.getCurrentCluster()?.server, cp().url);
    assert.equal(cp().kubeconfigObject.clusters[0]?.cluster.server, cp().url);
    assert.equal((await config.makeApiClient(CoreV1Api).listNamespace()).items.length, 4);
  });

  test("handles requests of client-node without a socket, errors included", async () => {
    await core().createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "a" } } });
    assert.deepEqual(await namesIn(), ["a", "kube-root-ca.crt", "settings"]);
    const again = core().createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "a" } } });
    await assert.rejects(again, { code: 409 });
    await core().deleteNamespacedConfigMap({ namespace: "default", name: "a" });
    assert.deepEqual(await namesIn(), ["kube-root-ca.crt", "settings"]);
  });

  test("applies manifests, and explains what to do if it cannot", async () => {
    const yaml = "---\n# a comment\n---\napiVersion: shop.example/v1\nkind: Widget\nmetadata: { name: w }\nspec: {}\n";
    const [widget] = await cp().apply(yaml);
    assert.deepEqual(widget?.spec, { size: 3 });
    await assert.rejects(cp().apply({ apiVersion: "shop.example/v1", kind: "Gadget", metadata: { name: "g" } }), {
      message: /^unknown kind Gadget in shop.example\/v1: apply its CustomResourceDefinition first/,
    });
    await assert.rejects(
      cp().apply({ ...settings, data: { a: 1 } }),
      /^ApplyError: applying ConfigMap settings failed with 500: .*expected string/,
    );
    await assert.rejects(cp().apply({ ...settings, metadata: {} }), /has no metadata.name/);
    await assert.rejects(cp().apply("kind: ConfigMap\n"), /has no apiVersion or kind/);
  });

  test("enforces ResourceQuotas", async () => {
    const metadata = { name: "few", namespace: "default" };
    await cp().apply({
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata,
      spec: { hard: { secrets: "0", configmaps: "3" } },
    });
    const body = (name: string) => ({ namespace: "default", body: { metadata: { name } } });
    await assert.rejects(core().createNamespacedSecret(body("s")), /exceeded quota: few, requested: secrets=1/);
    await core().createNamespacedConfigMap(body("third"));
    await assert.rejects(core().createNamespacedConfigMap(body("fourth")), /used: configmaps=3, limited: configmaps=3/);
    await core().deleteNamespacedConfigMap({ namespace: "default", name: "third" });
    await cp().settled();
    await core().createNamespacedConfigMap(body("fourth"));
  });

  test("warns that ResourceQuotas are not enforced without their controller", async (t) => {
    const emitWarning = t.mock.method(process, "emitWarning", () => {});
    await using plane = await startControlPlane({ controllers: "none" });
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard: { pods: "0" } } };
    for (const pods of ["0", "1"]) await plane.apply({ ...quota, spec: { hard: { pods } } });
    const [warning] = emitWarning.mock.calls;
    assert.equal(emitWarning.mock.callCount(), 1);
    assert.match(
      String(warning?.arguments[0]),
      /^ResourceQuotas are not enforced: .* excludes resourcequota-controller$/,
    );
  });

  test("authenticates any user, with the permissions of their roles", async () => {
    const jane = cp().as({ user: "jane", groups: ["readers"] });
    await assert.rejects(jane.client(CoreV1Api).listNamespacedConfigMap({ namespace: "default" }), { code: 403 });
    await cp()
      .client(RbacAuthorizationV1Api)
      .createClusterRoleBinding({
        body: {
          metadata: { name: "readers" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "readers" }],
        },
      });
    await cp().settled();
    assert.equal((await jane.fetch("/api/v1/namespaces/default/configmaps")).status, 200);
    assert.equal((await clientFor(cp().url, jane.token).call("GET", "/api/v1/namespaces/default/pods")).status, 200);
    assert.equal(cp().requests.list({ user: "jane", verb: "list" }).length, 3);
  });

  test("has clients of a kind that act as a user", async () => {
    await using plane = await startControlPlane({ kinds: [Widgets], manifests: PAINTERS });
    const jane = { user: "jane", groups: ["painters"], uid: "7", extra: { team: ["a"] } };
    const widgets = plane.as(jane).client(Widgets);
    const { spec } = await widgets.create({ metadata: { name: "a" }, spec: { colour: "red" } });
    assert.equal(spec.size, 3);
    await assert.rejects(widgets.delete("a"), { code: 403 });
    const [request] = plane.requests.list({ resource: "widgets", verb: "create" });
    assert.deepEqual([request?.user, request?.groups], ["jane", ["painters", "system:authenticated"]]);
    await plane.client(Widgets).delete("a");
  });

  test("forks are independent of each other and of their origin", async () => {
    await using one = await cp().fork();
    await using other = await cp().fork();
    assert.equal(new Set([cp().url, one.url, other.url]).size, 3);
    const before = await text();
    await core(one).deleteNamespacedConfigMap({ namespace: "default", name: "settings" });
    await core(one).createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "b" } } });
    assert.deepEqual(await namesIn(one), ["b", "kube-root-ca.crt"]);
    assert.equal(await text(other), before);
    assert.equal(await text(), before);
    await using ofOne = await one.fork();
    assert.equal(await text(ofOne), await text(one));
  });

  test("restores snapshots and its initial state, and clients notice", async () => {
    await core().createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "a" } } });
    const snapshot = cp().snapshot();
    const { metadata } = await core().listNamespacedConfigMap({ namespace: "default" });
    await core().deleteNamespacedConfigMap({ namespace: "default", name: "settings" });
    await cp().restore(snapshot);
    assert.deepEqual(await namesIn(), ["a", "kube-root-ca.crt", "settings"]);
    const path = `/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=${metadata?.resourceVersion}`;
    assert.match(await text(cp(), path), /"code":410/);
    await cp().reset();
    assert.deepEqual(await namesIn(), ["kube-root-ca.crt", "settings"]);
    await assert.rejects(cp().restore({} as never), /restore\(\) expects a result of snapshot\(\)/);
  });

  test("fails reads that the client has aborted, like fetch", async () => {
    const controller = new AbortController();
    const watch = await cp().fetch("/api/v1/namespaces?watch=1", { signal: controller.signal });
    const read = watch.text();
    controller.abort();
    await assert.rejects(read, { name: "AbortError" });
  });

  test("returns every version of an object, with author and changes", async () => {
    const body = { ...settings, data: { colour: "red", size: "1" } };
    const path = "/api/v1/namespaces/default/configmaps/settings";
    const headers = { "content-type": "application/json", "user-agent": "painter/1" };
    await cp().fetch(path, { method: "PUT", body: JSON.stringify(body), headers });
    await core().deleteNamespacedConfigMap({ namespace: "default", name: "settings" });
    const versions = await cp().history(settings);
    assert.deepEqual(
      versions.map(({ type, verb, user, userAgent }) => [type, verb, user, userAgent]),
      [
        ["ADDED", "patch", "kubernetes-admin", ""],
        ["MODIFIED", "update", "kubernetes-admin", "painter/1"],
        ["DELETED", "delete", "kubernetes-admin", "binnacle-testing"],
      ],
    );
    assert.deepEqual(versions[1]?.changes, [
      { path: "data.colour", before: "blue", after: "red" },
      { path: "data.size", before: undefined, after: "1" },
    ]);
    await cp().reset();
    assert.equal((await cp().history(settings)).length, 1, "what is undone is forgotten");
  });

  test("records requests with user and result", async () => {
    await cp().fetch("/api/v1/namespaces/default/pods/none");
    await core().listNamespacedPod({ namespace: "default" });
    assert.deepEqual(
      [...cp().requests].map(({ verb, resource, name, user, code }) => [verb, resource, name, user, code]),
      [
        ["get", "pods", "none", "kubernetes-admin", 404],
        ["list", "pods", "", "kubernetes-admin", 200],
      ],
    );
    assert.equal(cp().requests.list({ resource: "pods", client: "binnacle-testing" }).length, 1);
    cp().requests.clear();
    assert.equal(cp().requests.length, 0);
  });

  test("settles: a deleted namespace is gone then, with all its contents", async () => {
    await core().createNamespace({ body: { metadata: { name: "short" } } });
    await core().createNamespacedConfigMap({ namespace: "short", body: { metadata: { name: "a" } } });
    await core().deleteNamespace({ name: "short" });
    await cp().settled();
    await assert.rejects(core().readNamespace({ name: "short" }), { code: 404 });
    assert.equal((await cp().fetch("/api/v1/namespaces/short/configmaps/a")).status, 404);
  });
});

suite("options of a control plane", () => {
  test("lists wrong options", async () => {
    const start = (options: object) => startControlPlane(options as never);
    await assert.rejects(start({ manifest: "" }), /invalid option manifest: unknown option/);
    await assert.rejects(start({ seed: 1.5 }), /seed: expected an integer/);
    await assert.rejects(start({ clock: { at: "noon" } }), /clock.at: expected a time such as/);
    await assert.rejects(start({ config: { eventTtlMs: -1 } }), /eventTtlMs: expected milliseconds/);
    await assert.rejects(start({ controllers: "nobody" }), /"nobody" is not in the list/);
    await assert.rejects(
      start({ manifests: "apiVersion: v1\nkind: Pot\nmetadata: {name: a}\n" }),
      /unknown kind Pot in v1/,
    );
  });

  test("selects the controllers that run", async () => {
    await using plane = await startControlPlane({ controllers: "none" });
    assert.equal((await plane.fetch("/api/v1/namespaces/default/serviceaccounts/default")).status, 404);
  });
});
