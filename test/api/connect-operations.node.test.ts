import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { eventually } from "../support/time.ts";
import { type Connected, MERGE, NAMESPACE, startConnected } from "./connected.ts";

const METHODS = ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"];
const PROXIES = ["NamespacedPodProxy", "NamespacedServiceProxy", "NodeProxy"];
const STREAMS = [
  ["Attach", "stdout=1", "v4.channel.k8s.io"],
  ["Exec", "stdout=1&command=true", "v4.channel.k8s.io"],
  ["Portforward", "", "portforward.k8s.io"],
] as const;
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

suite("every connect operation of the specification", () => {
  let connected: Connected;
  const tested: string[] = [];
  /** A test of the operation with this name. */
  const operation = (id: string, run: () => Promise<void>) => {
    tested.push(id);
    test(id, run);
  };

  before(async () => {
    connected = await startConnected();
  });
  after(() => connected?.[Symbol.asyncDispose]());

  /** The path of a proxy, and its received requests. */
  const behind = (target: string) => {
    const { node, app, proxy } = connected;
    if (target === "NodeProxy") return { root: "/api/v1/nodes/one/proxy", seen: node.seen };
    return { root: target === "NamespacedPodProxy" ? proxy : `${NAMESPACE}/services/local:http/proxy`, seen: app.seen };
  };
  for (const method of METHODS) {
    for (const target of PROXIES) {
      for (const suffix of ["", "WithPath"]) {
        operation(`connect${method}${target}${suffix}`, async () => {
          const { root, seen } = behind(target);
          seen.length = 0;
          const url = suffix === "" ? "/?x=1" : "/a/b?x=1";
          const response = await connected.open(method.toUpperCase(), `${root}${url}`);
          response.resume();
          assert.equal(response.statusCode, 200);
          assert.deepEqual(
            seen.map((one) => [one.method, one.url]),
            [[method.toUpperCase(), url]],
          );
        });
      }
    }
    test(`connect${method}NamespacedServiceProxy: fails without an endpoint`, async () => {
      const response = await connected.open(method.toUpperCase(), `${NAMESPACE}/services/svc:http/proxy/a`);
      const body = await text(response);
      assert.equal(response.statusCode, 503);
      if (method !== "Head") assert.match(body, /no endpoints available for service \\"svc\\"/);
    });
  }

  for (const method of ["Get", "Post"]) {
    for (const [name, query, versions] of STREAMS) {
      const target = `${NAMESPACE}/pods/web/${name.toLowerCase()}?${query}`;
      operation(`connect${method}NamespacedPod${name}`, async () => {
        const { node } = connected;
        node.seen.length = 0;
        const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": versions };
        const response = await connected.open(method.toUpperCase(), target, headers);
        assert.equal(response.statusCode, 101);
        assert.equal(response.headers["x-stream-protocol-version"], versions);
        response.upgraded?.destroy();
        assert.equal(node.seen[0]?.method, method.toUpperCase());
        await eventually(() => node.streams() === 0);
      });
      test(`connect${method}NamespacedPod${name}: fails without an upgrade`, async () => {
        const { status, body } = await connected.admin.call(method.toUpperCase(), target);
        assert.deepEqual([status, body.message], [400, "Upgrade request required"]);
      });
    }
  }

  test("tests all operations of OpenAPI", async () => {
    const { body } = await connected.admin.call("GET", "/openapi/v3/api/v1");
    const operations = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap(Object.values);
    const named = operations.flatMap(({ operationId = "" }) =>
      operationId.startsWith("connect") ? [operationId] : [],
    );
    assert.equal(named.length, 48);
    assert.deepEqual(tested.filter((id) => id.startsWith("connect")).sort(), named.map(specified).sort());
  });

  suite("and those that act on a pod", () => {
    const POD = `${NAMESPACE}/pods/acted`;
    const resources = { requests: { cpu: "1" }, limits: { cpu: "1" } };
    before(async () => {
      const containers = [{ name: "main", image: "registry.example/app:1", resources }];
      const spec = { automountServiceAccountToken: false, containers };
      const made = await connected.admin.call("POST", `${NAMESPACE}/pods`, { metadata: { name: "acted" }, spec });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const amounts = { cpu: "8", pods: "10" };
      const node = { status: { capacity: amounts, allocatable: amounts } };
      assert.equal((await connected.admin.call("PATCH", "/api/v1/nodes/one/status", node, MERGE)).status, 200);
    });
    const call = (method: string, target: string, body?: unknown, headers?: Record<string, string>) =>
      connected.admin.call(method, target, body, headers);
    const debuggers = (...names: string[]) => names.map((name) => ({ name, image: "registry.example/debug:1" }));
    const cpu = (amount: string) => ({
      spec: { containers: [{ name: "main", resources: { requests: { cpu: amount }, limits: { cpu: amount } } }] },
    });

    operation("createNamespacedPodBinding", async () => {
      const binding = { metadata: { name: "acted" }, target: { kind: "Node", name: "one" } };
      const { status, body } = await call("POST", `${POD}/binding`, binding);
      assert.deepEqual([status, body.kind, body.status], [201, "Status", "Success"]);
      assert.equal((await call("GET", POD)).body.spec.nodeName, "one");
      const again = await call("POST", `${POD}/binding`, binding);
      assert.deepEqual([again.status, again.body.reason], [409, "Conflict"]);
    });

    operation("patchNamespacedPodEphemeralcontainers", async () => {
      const patch = { spec: { ephemeralContainers: debuggers("one") } };
      const { status, body } = await call("PATCH", `${POD}/ephemeralcontainers`, patch, STRATEGIC);
      assert.equal(status, 200, body.message);
      assert.equal(body.spec.ephemeralContainers[0].image, "registry.example/debug:1");
    });

    operation("replaceNamespacedPodEphemeralcontainers", async () => {
      const { body: pod } = await call("GET", POD);
      pod.spec.ephemeralContainers.push(...debuggers("two"));
      assert.equal((await call("PUT", `${POD}/ephemeralcontainers`, pod)).status, 200);
      pod.spec.ephemeralContainers = debuggers("one");
      delete pod.metadata.resourceVersion;
      assert.equal((await call("PUT", `${POD}/ephemeralcontainers`, pod)).status, 422, "none may be removed");
    });

    operation("readNamespacedPodEphemeralcontainers", async () => {
      const { status, body } = await call("GET", `${POD}/ephemeralcontainers`);
      const names = body.spec.ephemeralContainers.map(({ name }: { name: string }) => name);
      assert.deepEqual([status, body.kind, names], [200, "Pod", ["one", "two"]]);
    });

    operation("patchNamespacedPodResize", async () => {
      const { status, body } = await call("PATCH", `${POD}/resize`, cpu("2"), STRATEGIC);
      assert.equal(status, 200, body.message);
      assert.equal(body.spec.containers[0].resources.limits.cpu, "2");
      const main = await call("PATCH", POD, cpu("3"), STRATEGIC);
      assert.equal(main.status, 422, "only the subresource resizes");
    });

    operation("replaceNamespacedPodResize", async () => {
      const { body: pod } = await call("GET", POD);
      pod.spec.containers[0].resources = { requests: { cpu: "3" }, limits: { cpu: "3" } };
      assert.equal((await call("PUT", `${POD}/resize`, pod)).status, 200);
    });

    operation("readNamespacedPodResize", async () => {
      const { status, body } = await call("GET", `${POD}/resize`);
      assert.deepEqual([status, body.kind, body.spec.containers[0].resources.requests.cpu], [200, "Pod", "3"]);
    });

    operation("readNamespacedPodLog", async () => {
      const { node } = connected;
      node.seen.length = 0;
      const query =
        "follow=false&previous=true&timestamps=true&sinceSeconds=5&tailLines=1&limitBytes=100&container=main";
      const { status, body } = await call("GET", `${NAMESPACE}/pods/web/log?${query}`);
      assert.deepEqual([status, body], [200, "2026-01-02T03:04:05.000000006Z three\n"]);
      const url =
        "/containerLogs/default/web/main?limitBytes=100&previous=true&sinceSeconds=5&tailLines=1&timestamps=true";
      assert.equal(node.seen[0]?.url, url);
    });

    operation("createNamespacedPodEviction", async () => {
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "acted" } };
      const { status, body } = await call("POST", `${POD}/eviction`, eviction);
      assert.deepEqual([status, body.kind, body.status], [201, "Status", "Success"]);
      assert.ok((await call("GET", POD)).body.metadata.deletionTimestamp, "its node has to end it");
    });
  });

  test("57 operations have a test with their name", () => {
    assert.equal(new Set(tested).size, 57);
  });

  test("rejects dryRun", async () => {
    const { status, body } = await connected.admin.call("POST", `${NAMESPACE}/pods/web/exec?dryRun=All`);
    assert.deepEqual([status, body.message], [400, "dryRun is not supported"]);
  });
});

/** The specification's name of an operation: without group and version, starting with the method. */
function specified(operationId: string): string {
  const [, method, rest] = /^connectCoreV1(Delete|Get|Head|Options|Patch|Post|Put)(.*)$/.exec(operationId) ?? [];
  return `connect${method}${rest}`;
}
