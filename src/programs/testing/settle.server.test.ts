import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";
import { isProcessWaiting } from "./process-activity.ts";

const namespace = "default";
const PATH = `/api/v1/namespaces/${namespace}/configmaps`;
const cp = forkPerTest(hooks);

/** Copies every ConfigMap that is not a copy, after `prepare`. */
async function copyEach(prepare: () => Promise<unknown>): Promise<AsyncDisposable> {
  const config = cp().kubeConfig();
  const core = config.makeApiClient(CoreV1Api);
  const informer = makeInformer<V1ConfigMap>(config, PATH, () => core.listNamespacedConfigMap({ namespace }));
  const copy = async (name: string) => {
    await prepare();
    await create(`${name}-copy`);
  };
  informer.on("add", ({ metadata: { name = "" } = {} }) => {
    if (!name.endsWith("-copy")) void copy(name);
  });
  informer.on("error", () => {});
  await informer.start();
  return { [Symbol.asyncDispose]: () => informer.stop() };
}

const create = (name: string) =>
  cp()
    .client(CoreV1Api)
    .createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
const read = (name: string) => cp().client(CoreV1Api).readNamespacedConfigMap({ name, namespace });

suite("settled()", () => {
  test("waits for a client that handles an event", async () => {
    await using _ = await copyEach(async () => {});
    await create("a");
    await cp().settled();
    assert.equal((await read("a-copy")).metadata?.name, "a-copy");
  });

  test("waits for a client that sleeps for a short time", async () => {
    await using _ = await copyEach(() => sleep(5));
    await create("a");
    await cp().settled();
    assert.equal((await read("a-copy")).metadata?.name, "a-copy");
  });

  test("waits for a client after hours have passed: no watch has ended", async () => {
    await using _ = await copyEach(async () => {});
    await cp().clock.advance({ hours: 2 });
    await create("a");
    await cp().settled();
    assert.equal((await read("a-copy")).metadata?.name, "a-copy");
  });

  test("waits for a request that waits for the clock", async () => {
    cp().faults.latency({ verb: "create", resource: "configmaps", by: { ms: 30 } });
    const created = create("a");
    await cp().settled();
    assert.equal((await read("a")).metadata?.name, "a");
    await created;
  });
});

suite("a process", () => {
  test("does not wait while only watches of control planes are open", async () => {
    await using _ = await copyEach(async () => {});
    await cp().settled();
    assert.equal(isProcessWaiting(), false);
  });

  test("waits while a timer keeps it alive", () => {
    const timer = setTimeout(() => {}, 60_000);
    assert.equal(isProcessWaiting(), true);
    timer.unref();
    assert.equal(isProcessWaiting(), false);
    clearTimeout(timer);
  });
});
