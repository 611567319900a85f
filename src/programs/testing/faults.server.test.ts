import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { eventually } from "../../../test/support/time.ts";
import { widgetsDefinition } from "../../base/util/widgets.suite.ts";
import { forkPerTest } from "./fork-per-test.ts";

const cp = forkPerTest(hooks, { controllers: "none", clock: { at: "2026-01-01T00:00:00Z" }, seed: 7 });
const resource = "configmaps";
const namespace = "default";
const PATH = "/api/v1/namespaces/default/configmaps";
const core = () => cp().client(CoreV1Api);
const create = (name: string, data = {}) =>
  core().createNamespacedConfigMap({ namespace, body: { metadata: { name }, data } });
const replace = (name: string, data = {}) =>
  core().replaceNamespacedConfigMap({ namespace, name, body: { metadata: { name }, data } });
const remove = (name: string) => core().deleteNamespacedConfigMap({ namespace, name });

/** An informer of client-node over a real connection that restarts after errors, and the events it reported. */
async function inform() {
  const config = new KubeConfig();
  config.loadFromString(cp().kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const reported: string[] = [];
  let isStopped = false;
  const informer = makeInformer<V1ConfigMap>(config, PATH, () => api.listNamespacedConfigMap({ namespace }));
  for (const event of ["add", "update", "delete"] as const) {
    informer.on(event, (object) => void reported.push(`${event} ${object.metadata?.name}`));
  }
  informer.on("error", (error: Error & { code?: number }) => {
    reported.push(`error ${error.code ?? ""}`.trim());
    if (!isStopped) void informer.start();
  });
  await informer.start();
  const watches = () => cp().requests.list({ verb: "watch", resource }).length;
  return {
    reported,
    lists: () => cp().requests.list({ verb: "list", resource }).length,
    has: (line: string) => eventually(() => reported.includes(line), { what: () => `${line}, but ${reported.join()}` }),
    /** Resolves when this many watches have reached the server. */
    watching: (count = 1) => eventually(() => watches() >= count),
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await informer.stop();
    },
  };
}

suite("an informer of client-node survives", () => {
  test("a list that fails", async () => {
    const fault = cp().faults.error({ verb: "list", resource, times: 1, code: 503, retryAfterSeconds: 1 });
    await create("a");
    await using informer = await inform();
    await informer.has("add a");
    assert.deepEqual(informer.reported, ["error 503", "add a"]);
    assert.equal(fault.hits, 1);
  });

  test("a list that is delayed", async () => {
    const fault = cp().faults.latency({ verb: "list", resource, by: { seconds: 3 }, times: 1 });
    await create("a");
    const informing = inform();
    await eventually(() => fault.hits === 1);
    assert.equal(cp().requests.list({ verb: "list" })[0]?.code, undefined, "not answered yet");
    await cp().clock.advance({ seconds: 3 });
    await using informer = await informing;
    await informer.has("add a");
  });

  test("a lost event", async () => {
    await using informer = await inform();
    await informer.watching();
    const fault = cp().faults.dropEvents({ resource, name: "lost" });
    await create("lost");
    await create("next");
    await informer.has("add next");
    assert.deepEqual(informer.reported, ["add next"]);
    assert.equal(fault.hits, 1);
  });

  test("a lost deletion", async () => {
    await create("ghost");
    await using informer = await inform();
    await informer.watching();
    cp().faults.dropEvents({ resource, event: "DELETED" });
    await remove("ghost");
    await create("next");
    await informer.has("add next");
    assert.deepEqual(informer.reported, ["add ghost", "add next"], "the deleted object is still cached");
  });

  test("a repeated event", async () => {
    const fault = cp().faults.repeatEvents({ resource, name: "twice", times: 1 });
    await using informer = await inform();
    await informer.watching();
    await create("twice");
    await create("next");
    await informer.has("add next");
    assert.deepEqual(informer.reported, ["add twice", "add next"], "the same version is not reported again");
    assert.equal(fault.hits, 1);
  });

  test("a delayed event", async () => {
    await using informer = await inform();
    await informer.watching();
    const fault = cp().faults.delayEvents({ resource, name: "late", by: { seconds: 3 } });
    await create("late");
    await eventually(() => fault.hits === 1);
    await replace("late", { changed: "yes" });
    await cp().settled();
    assert.deepEqual(informer.reported, []);
    await cp().clock.advance({ seconds: 3 });
    await informer.has("add late");
    await eventually(() => fault.hits === 2);
    await cp().clock.advance({ seconds: 3 });
    await informer.has("update late");
  });

  test("a broken connection", async () => {
    await create("a");
    await using informer = await inform();
    await informer.watching();
    assert.equal(cp().faults.cutWatches({ resource }).hits, 1);
    await create("meanwhile");
    await informer.has("add meanwhile");
    assert.equal(informer.reported.filter((line) => line.startsWith("add")).length, 2);
  });

  test("connections that break after some events", async () => {
    const fault = cp().faults.cutWatches({ resource, afterEvents: 1, times: 1 });
    await using informer = await inform();
    await informer.watching();
    for (const name of ["one", "two", "three"]) await create(name);
    await informer.has("add three");
    assert.deepEqual(
      informer.reported.filter((line) => line.startsWith("add")),
      ["add one", "add two", "add three"],
    );
    assert.equal(fault.hits, 1);
  });

  test("compacted history", async () => {
    await create("a");
    await using informer = await inform();
    await informer.watching();
    assert.equal(cp().faults.expireWatches({ resource }).hits, 1);
    await create("b");
    await informer.has("add b");
    assert.ok(informer.lists() >= 2, "it has listed anew");
    const old = String(Number((await core().listNamespace()).metadata?.resourceVersion) - 2);
    await cp().faults.compact();
    const watch = await cp().fetch(`${PATH}?watch=1&resourceVersion=${old}`);
    assert.match(await watch.text(), /too old resource version/);
  });

  test("compaction while it is disconnected", async () => {
    await create("a");
    await using informer = await inform();
    await informer.watching();
    const fault = cp().faults.latency({ verb: "watch", resource, by: { seconds: 3 }, times: 1 });
    assert.equal(cp().faults.cutWatches({ resource }).hits, 1);
    await eventually(() => fault.hits === 1);
    await create("meanwhile");
    await remove("a");
    await cp().faults.compact();
    await cp().clock.advance({ seconds: 3 });
    await informer.has("add meanwhile");
    await informer.has("delete a");
    assert.ok(informer.lists() >= 2, "it has listed anew");
  });

  test("conflicts of its writes", async () => {
    await using informer = await inform();
    await informer.watching();
    await create("a");
    await informer.has("add a");
    const fault = cp().faults.conflict({ verb: "update", resource, times: 2 });
    const write = async (): Promise<unknown> =>
      replace("a", { seen: "yes" }).catch((error) => (error.code === 409 ? write() : Promise.reject(error)));
    await write();
    await informer.has("update a");
    await create("next");
    await informer.has("add next");
    assert.deepEqual(informer.reported, ["add a", "update a", "add next"], "rejected writes have changed nothing");
    assert.equal(fault.hits, 2);
  });

  test("a stale list", async () => {
    await create("a");
    await create("b");
    await remove("a");
    const fault = cp().faults.staleReads({ verb: "list", resource, revisions: 2, times: 1 });
    await using informer = await inform();
    await informer.has("delete a");
    assert.deepEqual(informer.reported, ["add a", "add b", "delete a"]);
    assert.equal(fault.hits, 1);
    cp().faults.staleReads({ verb: "get", resource, revisions: 1, times: 1 });
    assert.equal((await cp().fetch(`${PATH}/a`)).status, 200);
    assert.equal((await cp().fetch(`${PATH}/a`)).status, 404);
  });
});

suite("faults", () => {
  test("fail writes as if another client had written first", async () => {
    await create("a");
    cp().faults.conflict({ resource, times: 1 });
    await assert.rejects(replace("a", { x: "1" }), (error: { code: number; body: string }) => {
      assert.equal(error.code, 409);
      assert.match(error.body, /the object has been modified; please apply your changes to the latest version/);
      return true;
    });
    await replace("a", { x: "1" });
  });

  test("apply only to matching users, clients, names and verbs", async () => {
    const status = async (path: string, headers = {}, by = cp()) => (await by.fetch(path, { headers })).status;
    cp().faults.error({ user: "jane", code: 500 });
    cp().faults.error({ client: "slow-tool", code: 504 });
    cp().faults.error({ resource: "deployments.apps", code: 503 });
    cp().faults.error({ namespace: "kube-system", name: "x", code: 418, reason: "Teapot" });
    const root = cp().as({ user: "jane", groups: ["system:masters"] });
    assert.equal((await root.fetch(PATH)).status, 500);
    assert.equal(await status(PATH, { "user-agent": "slow-tool/1" }), 504);
    assert.equal(await status("/apis/apps/v1/deployments"), 503);
    assert.equal(await status("/apis/apps/v1/daemonsets"), 200);
    assert.equal(await status("/api/v1/namespaces/kube-system/pods/x"), 418);
    assert.equal(await status(PATH), 200);
    cp().faults.clear();
    assert.equal(await status("/apis/apps/v1/deployments"), 200);
  });

  test("last for a while, or occur at random, reproducible by the seed", async () => {
    const read = async (plane = cp()) => (await plane.fetch(PATH)).status;
    cp().faults.error({ resource, for: { minutes: 5 } });
    assert.equal(await read(), 500);
    await cp().clock.advance({ minutes: 5 });
    assert.equal(await read(), 200);
    const series = async () => {
      await using fork = await cp().fork();
      fork.faults.error({ resource, probability: 0.5 });
      const answers: number[] = [];
      for (let i = 0; i < 20; i++) answers.push(await read(fork));
      return answers.join();
    };
    const first = await series();
    assert.match(first, /200.*500|500.*200/);
    assert.equal(await series(), first);
  });

  test("with unknown options are rejected", () => {
    assert.throws(
      () => cp().faults.error({ verbs: "list" } as never),
      /unknown fault option "verbs", did you mean verb\?/,
    );
    assert.throws(() => cp().faults.latency({ by: -1 }), /expected milliseconds/);
  });

  test("with an unknown verb, event, resource or unit of time are rejected, with a suggestion", async () => {
    const { faults } = cp();
    const message = (text: string) => ({ name: "TypeError", message: text });
    assert.throws(
      () => faults.error({ verb: "creat", resource }),
      message('unknown verb "creat", did you mean create?'),
    );
    assert.throws(
      () => faults.conflict({ verb: ["update", "post"] }),
      /^TypeError: unknown verb "post"; known: get, list/,
    );
    assert.throws(
      () => faults.error({ resource: "configmap" }),
      message('resource "configmap" is not served, did you mean configmaps?'),
    );
    assert.throws(() => faults.dropEvents({ event: "ADD" as never }), /unknown event "ADD"; known: ADDED, MODIFIED/);
    assert.throws(() => faults.latency({ by: { second: 1 } as never }), /"second", did you mean seconds\?/);
    assert.throws(() => faults.error({ for: { minute: 1 } as never }), /"minute", did you mean minutes\?/);
    for (const known of ["deployments", "deployments.apps", "configmaps", "subjectaccessreviews"]) {
      faults.error({ resource: known });
    }
    await cp().reset();
    assert.throws(() => cp().faults.error({ resource: "configmap" }), /is not served/);
  });

  test("name custom resources, of forks as well", async () => {
    const { faults } = cp();
    assert.throws(() => faults.error({ resource: "widgets" }), /apply its CustomResourceDefinition first/);
    await cp().apply(widgetsDefinition({ size: { type: "integer" } }));
    faults.error({ resource: "widgets.shop.example" });
    await using fork = await cp().fork();
    fork.faults.error({ resource: "widgets" });
  });

  test("that never occurred are listed, so that a test can fail", async () => {
    const { faults } = cp();
    faults.error({ verb: "create", resource, times: 1 });
    faults.conflict({ verb: "update", resource, name: "a" }).remove();
    faults.expireWatches({ resource });
    await assert.rejects(create("a"), { code: 500 });
    assert.deepEqual(
      faults.unused().map(({ description }) => description),
      ["conflict({ verb: 'update', resource: 'configmaps', name: 'a' })", "expireWatches({ resource: 'configmaps' })"],
    );
    faults.clear();
    assert.deepEqual(faults.unused(), []);
  });
});
