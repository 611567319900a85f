import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { CoreV1Api, type V1Container } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
const cp = forkPerTest(hooks, {
  controllers: "*",
  cluster: { nodes: 2 },
  clock: { at: "2026-01-01T00:00:00Z" },
});
const core = () => cp().client(CoreV1Api);
const at = `/api/v1/namespaces/${namespace}`;

async function run(name: string, image: string, more: Partial<V1Container> = {}): Promise<void> {
  const spec = { nodeName: "node-1", containers: [{ name: "main", image, ...more }] };
  await core().createNamespacedPod({ namespace, body: { metadata: { name, labels: { app: name } }, spec } });
  await cp().settled();
}

async function read(path: string, options: RequestInit = {}): Promise<[number, string]> {
  const response = await cp().fetch(`${at}/${path}`, options);
  return [response.status, await response.text()];
}

suite("containers of a control plane", () => {
  test("show what their functions have logged", async () => {
    cp().cluster.image("shop/backup:*", async ({ log, sleep, restartCount }) => {
      log(`backup ${restartCount}`);
      await sleep("1m");
      log("done\nall of it");
      return 1;
    });
    await run("backup", "shop/backup:1");
    assert.deepEqual(await read("pods/backup/log"), [200, "backup 0\n"]);
    assert.deepEqual(await read("pods/backup/log?timestamps=true"), [200, "2026-01-01T00:00:00.000000000Z backup 0\n"]);
    await cp().clock.advance({ minutes: 1 });
    assert.deepEqual(await read("pods/backup/log?previous=true&tailLines=2"), [200, "done\nall of it\n"]);
    assert.deepEqual(await read("pods/backup/log"), [200, "backup 1\n"]);
  });

  test("end a followed log when they exit", async () => {
    cp().cluster.image("job", async ({ log, sleep }) => {
      for (const line of ["one", "two"]) {
        log(line);
        await sleep(1000);
      }
    });
    await run("job", "job");
    const response = await cp().fetch(`${at}/pods/job/log?follow=true`);
    await cp().clock.advance({ seconds: 5 });
    assert.equal(await response.text(), "one\ntwo\n");
  });

  test("without a function say that they are simulated", async () => {
    await run("web", "nginx");
    const [status, text] = await read("pods/web/log");
    assert.equal(status, 200);
    assert.match(
      text,
      /^container "main" of image "nginx" is simulated: no program runs in it\. It writes no log\.\n$/,
    );
    const [refused] = await read("pods/web/proxy/");
    assert.equal(refused, 503);
  });

  test("answer HTTP through the proxies of Pods and Services", async () => {
    cp().cluster.image("shop/web:2.*", {
      async http(request, { pod }) {
        const { pathname, search } = new URL(request.url);
        const text = `${request.method} ${pathname}${search} ${pod.metadata.name} ${await request.text()}`;
        return new Response(text, { status: 201, headers: { "x-own": "yes" } });
      },
    });
    await run("web", "shop/web:2.1", { ports: [{ containerPort: 8080 }] });
    assert.deepEqual(await read("pods/web/proxy/hello?a=b"), [201, "GET /hello?a=b web "]);
    const post = { method: "POST", body: "body", headers: { "content-type": "text/plain" } };
    assert.deepEqual(await read("pods/web:8080/proxy/form", post), [201, "POST /form web body"]);
    const spec = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
    await core().createNamespacedService({ namespace, body: { metadata: { name: "shop" }, spec } });
    await cp().settled();
    assert.deepEqual(await read("services/shop:http/proxy/x"), [201, "GET /x web "]);
  });

  test("have functions of their own in a fork", async () => {
    cp().cluster.image("app", ({ log }) => log("parent"));
    await using fork = await cp().fork();
    fork.cluster.image("app", ({ log }) => log("fork"));
    await run("app", "app");
    assert.deepEqual(await read("pods/app/log"), [200, "parent\n"]);
  });
});
