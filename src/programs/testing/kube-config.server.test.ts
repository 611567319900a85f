import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import {
  AppsV1Api,
  CoreV1Api,
  Exec,
  Health,
  type KubeConfig,
  KubernetesObjectApi,
  Log,
  makeInformer,
  type V1ConfigMap,
  type V1Status,
} from "@kubernetes/client-node";
import type { PodHandlers } from "../../index.ts";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
const PATH = `/api/v1/namespaces/${namespace}/configmaps`;
/** More than the buffers of a stream hold. */
const LONG_LOG = Array.from({ length: 5000 }, (_, index) => `${index} ${"x".repeat(200)}\n`);
const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: [{ name: "c", image: "i" }] },
};

const pod: PodHandlers = {
  log: () => LONG_LOG,
  exec: async ({ stdout, command }) => {
    stdout?.write(command.join(" "));
    return 3;
  },
};
const cp = forkPerTest(hooks, { manifests: POD, config: { connect: { handlers: { pod: () => pod } } } });

const create = (config: KubeConfig, name: string) =>
  config.makeApiClient(CoreV1Api).createNamespacedConfigMap({ namespace, body: { metadata: { name } } });

/** An informer of ConfigMaps, and the names that it added. */
async function inform(config: KubeConfig) {
  const core = config.makeApiClient(CoreV1Api);
  const added: string[] = [];
  let isStopped = false;
  const informer = makeInformer<V1ConfigMap>(config, PATH, () => core.listNamespacedConfigMap({ namespace }));
  informer.on("add", ({ metadata }) => void added.push(metadata?.name ?? ""));
  informer.on("error", () => {
    if (!isStopped) void informer.start();
  });
  await informer.start();
  return {
    added,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await informer.stop();
    },
  };
}

/** Counts the TCP connections that this process opens while `run` runs. */
async function connectionsDuring(run: () => Promise<void>): Promise<number> {
  let count = 0;
  const opened = () => void count++;
  subscribe("net.client.socket", opened);
  try {
    await run();
  } finally {
    unsubscribe("net.client.socket", opened);
  }
  return count;
}

suite("kubeConfig()", () => {
  test("opens no connection for API clients, informers and health checks", async () => {
    const connections = await connectionsDuring(async () => {
      const config = cp().kubeConfig();
      await using informer = await inform(config);
      await create(config, "a");
      await cp().settled();
      assert.deepEqual(informer.added, ["kube-root-ca.crt", "a"]);
      const objects = KubernetesObjectApi.makeApiClient(config);
      const read = await objects.read({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace } });
      assert.equal(read.metadata?.name, "a");
      assert.equal(await new Health(config).readyz({}), true);
    });
    assert.equal(connections, 0);
  });

  test("streams logs that are larger than its buffers, without a connection", async () => {
    const connections = await connectionsDuring(async () => {
      const output = new PassThrough();
      await new Log(cp().kubeConfig()).log(namespace, "web", "c", output);
      assert.equal(await text(output), LONG_LOG.join(""));
    });
    assert.equal(connections, 0);
  });

  test("runs commands, over the address of the control plane", async () => {
    const output = new PassThrough();
    const status = await new Promise<V1Status>((resolve, reject) => {
      const exec = new Exec(cp().kubeConfig());
      exec.exec(namespace, "web", "c", ["echo", "hi"], output, null, null, false, resolve).catch(reject);
    });
    assert.equal(await text(output), "echo hi");
    assert.equal(status.details?.causes?.[0]?.message, "3");
  });

  test("authenticates as another user, and its requests are recorded", async () => {
    const jane = cp().as({ user: "jane" }).kubeConfig();
    await assert.rejects(create(jane, "a"), { code: 403 });
    const [{ verb, user, userAgent, code } = {}] = cp().requests.list({ user: "jane" });
    assert.deepEqual([verb, user, code], ["create", "jane", 403]);
    assert.match(userAgent ?? "", /^kubernetes-client-javascript\//);
  });

  test("is affected by faults", async () => {
    const config = cp().kubeConfig();
    const apps = config.makeApiClient(AppsV1Api);
    cp().faults.error({ verb: "list", resource: "deployments", code: 503, times: 1 });
    await assert.rejects(apps.listNamespacedDeployment({ namespace }), { code: 503 });
    await using informer = await inform(config);
    await cp().settled();
    assert.equal(cp().faults.expireWatches({ resource: "configmaps" }).hits, 1);
    await create(config, "after-expired");
    await cp().settled();
    assert.equal(cp().faults.cutWatches({ resource: "configmaps" }).hits, 1);
    await create(config, "after-cut");
    await cp().settled();
    assert.deepEqual(informer.added.slice(1), ["after-expired", "after-cut"]);
  });

  test("of a fork reaches the fork only, and rejects requests after close", async () => {
    const fork = await cp().fork();
    const config = fork.kubeConfig();
    await create(config, "a");
    await assert.rejects(cp().kubeConfig().makeApiClient(CoreV1Api).readNamespacedConfigMap({ name: "a", namespace }), {
      code: 404,
    });
    await fork.close();
    await assert.rejects(create(config, "b"), /the control plane is closed/);
  });
});
