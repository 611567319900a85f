import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ApiException, CustomObjectsApi, KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { type RunningBinnacle, type StoreName, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { needsStore } from "../support/tools.ts";

// biome-ignore lint/suspicious/noExplicitAny: custom objects have any shape
type Any = any;

const GROUP = "things.example.com";
const VERSION = "v1";
const NAMESPACE = "default";

const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const apply = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

function apiOf(server: string): CustomObjectsApi {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "test", server, skipTLSVerify: true }],
    users: [{ name: "admin", token: tokens.admin }],
    contexts: [{ name: "test", cluster: "test", user: "admin" }],
    currentContext: "test",
  });
  return config.makeApiClient(CustomObjectsApi);
}

async function codeOf(answer: Promise<unknown>): Promise<number> {
  return answer.then(
    () => 200,
    (error: unknown) => (error instanceof ApiException ? error.code : Promise.reject(error)),
  );
}

const names = (list: Any): string[] => list.items.map((item: Any) => item.metadata.name);

/** One test per operation of the specification's tables of custom objects, each on a resource of its own. */
function operations(scope: "Cluster" | "Namespaced", api: () => Any): void {
  const place = scope === "Namespaced" ? { namespace: NAMESPACE } : {};
  const kind = `${scope}Thing`;
  const plural = (operation: string) => `${scope}${operation}s`.toLowerCase();
  const at = (operation: string) => ({ group: GROUP, version: VERSION, plural: plural(operation), ...place });
  const thing = (name: string, more: Any = {}): Any => ({
    apiVersion: `${GROUP}/${VERSION}`,
    kind,
    metadata: { name, labels: { app: name } },
    spec: { replicas: 2, colour: "red", list: [{ a: 1 }, null] },
    ...more,
  });
  const call = (operation: string, part: string, more: Any = {}, ...options: Any[]) =>
    api()[`${operation}${scope}CustomObject${part}`]({ ...at(operation + part), ...more }, ...options);
  /** Creates an object for the test of an operation. */
  const make = (operation: string, part: string, name: string, more: Any = {}) =>
    api()[`create${scope}CustomObject`]({ ...at(operation + part), body: thing(name, more) });

  test(`create${scope}CustomObject`, async () => {
    const created = await call("create", "", { body: thing("a"), fieldManager: "me" });
    assert.deepEqual([created.kind, created.metadata.generation], [kind, 1]);
    assert.deepEqual(created.spec, thing("a").spec);
    assert.equal(created.metadata.namespace, scope === "Namespaced" ? NAMESPACE : undefined);
    assert.equal(created.metadata.managedFields[0].manager, "me");
    assert.equal(await codeOf(call("create", "", { body: thing("a") })), 409);
    assert.equal(await codeOf(call("create", "", { body: thing("b"), dryRun: "All" })), 200);
    assert.equal(await codeOf(call("create", "", { body: thing("Not A Name") })), 422);
    assert.equal(await codeOf(call("create", "", { body: { ...thing("c"), kind: "Other" } })), 422);
  });

  test(`list${scope}CustomObject`, async () => {
    const empty = await call("list", "");
    assert.deepEqual([empty.kind, empty.apiVersion, empty.items], ["List", `${GROUP}/${VERSION}`, []]);
    await make("list", "", "a");
    await make("list", "", "b");
    const all = await call("list", "");
    assert.equal(all.kind, `${kind}List`);
    assert.deepEqual(names(all), ["a", "b"]);
    assert.deepEqual(names(await call("list", "", { labelSelector: "app=b" })), ["b"]);
    assert.deepEqual(names(await call("list", "", { fieldSelector: "metadata.name=a" })), ["a"]);
    const page = await call("list", "", { limit: 1 });
    assert.deepEqual(names(page), ["a"]);
    assert.deepEqual(names(await call("list", "", { _continue: page.metadata._continue ?? page.metadata.continue })), [
      "b",
    ]);
  });

  test(`get${scope}CustomObject`, async () => {
    assert.equal(await codeOf(call("get", "", { name: "a" })), 404);
    await make("get", "", "a");
    assert.equal((await call("get", "", { name: "a" })).spec.colour, "red");
    assert.equal(await codeOf(call("get", "", { name: "b" })), 404);
  });

  test(`patch${scope}CustomObject`, async () => {
    assert.equal(await codeOf(call("patch", "", { name: "a", body: { spec: {} } }, merge)), 404);
    await make("patch", "", "a");
    const operations = [{ op: "replace", path: "/spec/colour", value: "blue" }];
    assert.equal((await call("patch", "", { name: "a", body: operations })).spec.colour, "blue");
    const merged = await call("patch", "", { name: "a", body: { spec: { colour: null, size: 1 } } }, merge);
    assert.deepEqual(merged.spec, { replicas: 2, list: [{ a: 1 }, null], size: 1 });
    assert.equal(merged.metadata.generation, 3);
    const applied = { apiVersion: `${GROUP}/${VERSION}`, kind, spec: { owned: { x: 1 } } };
    const options = { name: "a", body: applied, fieldManager: "applier" };
    assert.deepEqual((await call("patch", "", options, apply)).spec.owned, { x: 1 });
    const less = { ...options, body: { ...applied, spec: {} } };
    assert.equal((await call("patch", "", less, apply)).spec.owned, undefined);
    const contended = { ...options, body: { ...applied, spec: { size: 2 } } };
    assert.equal(await codeOf(call("patch", "", contended, apply)), 409);
    assert.equal((await call("patch", "", { ...contended, force: true }, apply)).spec.size, 2);
    const fresh = { ...applied, metadata: { name: "fresh" } };
    const made = { ...options, plural: `${plural("patch")}anew`, name: "fresh", body: fresh };
    assert.equal((await call("patch", "", made, apply)).metadata.name, "fresh");
    assert.equal((await call("get", "", { ...made, plural: made.plural })).kind, kind);
  });

  test(`replace${scope}CustomObject`, async () => {
    assert.equal(await codeOf(call("replace", "", { name: "a", body: thing("a") })), 404);
    const made = await make("replace", "", "a", { status: { phase: "New" } });
    const replaced = await call("replace", "", { name: "a", body: { ...made, spec: { only: true }, status: {} } });
    assert.deepEqual([replaced.spec, replaced.status], [{ only: true }, { phase: "New" }]);
    assert.equal(await codeOf(call("replace", "", { name: "a", body: { ...made, spec: {} } })), 409);
  });

  test(`delete${scope}CustomObject`, async () => {
    assert.equal(await codeOf(call("delete", "", { name: "a" })), 404);
    await make("delete", "", "a");
    assert.equal((await call("delete", "", { name: "a" })).status, "Success");
    assert.equal(await codeOf(call("delete", "", { name: "a" })), 404);
    await make("delete", "", "held", { metadata: { name: "held", finalizers: ["example.com/hold"] } });
    const held = await call("delete", "", { name: "held" });
    assert.equal(typeof held.metadata.deletionTimestamp, "string");
  });

  test(`deleteCollection${scope}CustomObject`, async () => {
    assert.deepEqual((await call("deleteCollection", "")).items ?? [], []);
    await make("deleteCollection", "", "a");
    await make("deleteCollection", "", "b");
    await call("deleteCollection", "", { labelSelector: "app=a" });
    const left = await api()[`list${scope}CustomObject`](at("deleteCollection"));
    assert.deepEqual(names(left), ["b"]);
  });

  test(`get${scope}CustomObjectScale`, async () => {
    assert.equal(await codeOf(call("get", "Scale", { name: "a" })), 404);
    await make("get", "Scale", "a", { status: { replicas: 1, selector: "app=a" } });
    const scale = await call("get", "Scale", { name: "a" });
    assert.deepEqual([scale.kind, scale.apiVersion, scale.spec.replicas], ["Scale", "autoscaling/v1", 2]);
    assert.deepEqual(scale.status, { replicas: 1, selector: "app=a" });
  });

  test(`patch${scope}CustomObjectScale`, async () => {
    await make("patch", "Scale", "a");
    const scaled = await call("patch", "Scale", { name: "a", body: { spec: { replicas: 5 } } }, merge);
    assert.equal(scaled.spec.replicas, 5);
  });

  test(`replace${scope}CustomObjectScale`, async () => {
    await make("replace", "Scale", "a");
    const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 7 } };
    assert.equal((await call("replace", "Scale", { name: "a", body })).spec.replicas, 7);
    const whole = await api()[`get${scope}CustomObject`]({ ...at("replaceScale"), name: "a" });
    assert.deepEqual([whole.spec.replicas, whole.spec.colour], [7, "red"]);
  });

  test(`get${scope}CustomObjectStatus`, async () => {
    await make("get", "Status", "a", { status: { phase: "New" } });
    assert.equal((await call("get", "Status", { name: "a" })).status.phase, "New");
  });

  test(`patch${scope}CustomObjectStatus`, async () => {
    await make("patch", "Status", "a");
    const body = { spec: { colour: "green" }, status: { phase: "Patched" } };
    const patched = await call("patch", "Status", { name: "a", body }, merge);
    assert.deepEqual([patched.spec.colour, patched.status.phase], ["red", "Patched"]);
    assert.equal(patched.metadata.generation, 1);
  });

  test(`replace${scope}CustomObjectStatus`, async () => {
    const made = await make("replace", "Status", "a");
    const body = { ...made, spec: { colour: "green" }, status: { phase: "Replaced" } };
    const replaced = await call("replace", "Status", { name: "a", body });
    assert.deepEqual([replaced.spec.colour, replaced.status.phase], ["red", "Replaced"]);
  });
}

for (const store of ["memory", "sqlite", "etcd"] as StoreName[]) {
  const options = needsStore(store);
  describe(`custom objects without a definition, stored in ${store}`, options, () => {
    let server: RunningBinnacle;
    let api: CustomObjectsApi;

    before(async () => {
      server = await startBinnacle({ store });
      api = apiOf(server.base);
    });
    after(() => server.kill());

    operations("Cluster", () => api);
    operations("Namespaced", () => api);

    test("listCustomObjectForAllNamespaces", async () => {
      const { call } = clientFor(server.base, tokens.admin);
      await call("POST", "/api/v1/namespaces", { metadata: { name: "second" } });
      const at = { group: GROUP, version: VERSION };
      const body = (name: string) => ({ apiVersion: `${GROUP}/${VERSION}`, kind: "Spread", metadata: { name } });
      for (const [namespace, name] of [
        [NAMESPACE, "a"],
        ["second", "b"],
      ] as const) {
        await api.createNamespacedCustomObject({ ...at, plural: "spreads", namespace, body: body(name) });
      }
      const all = await api.listCustomObjectForAllNamespaces({ ...at, resourcePlural: "spreads" });
      assert.deepEqual(names(all), ["a", "b"]);
    });

    test("getAPIResources", async () => {
      const at = { group: "listed.example.com", version: "v1beta1", plural: "parts" };
      assert.equal(await codeOf(api.getAPIResources(at)), 404);
      const body = { kind: "Part", metadata: { name: "a" } };
      await api.createClusterCustomObject({ ...at, body });
      const { resources } = await api.getAPIResources(at);
      assert.deepEqual(
        resources.map(({ name, kind, namespaced }) => [name, kind, namespaced]),
        [
          ["parts", "Part", false],
          ["parts/status", "Part", false],
          ["parts/scale", "Scale", false],
        ],
      );
    });

    test("a watch that begins before the first object hears of it, and of what follows", async () => {
      const { call, watch } = clientFor(server.base, tokens.admin);
      const path = `/apis/${GROUP}/${VERSION}/namespaces/${NAMESPACE}/watcheds`;
      const { body: list } = await call("GET", path);
      const stop = new AbortController();
      const events = watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`, stop.signal);
      const first = events.next();
      const object = { apiVersion: `${GROUP}/${VERSION}`, kind: "Watched", metadata: { name: "a" } };
      assert.equal((await call("POST", path, object)).status, 201);
      assert.equal((await call("DELETE", `${path}/a`)).status, 200);
      const seen = [(await first).value, (await events.next()).value];
      assert.deepEqual(
        seen.map(({ type, object: { kind, metadata } }) => [type, kind, metadata.name]),
        [
          ["ADDED", "Watched", "a"],
          ["DELETED", "Watched", "a"],
        ],
      );
      stop.abort();
    });
  });
}
