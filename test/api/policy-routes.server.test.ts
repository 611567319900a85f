import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type Server, startServer } from "../../src/programs/server/server.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1";
const CORE = "/api/v1/namespaces/guarded";
const APPS = "/apis/apps/v1/namespaces/guarded";
const LARGE = "x".repeat(200_000);
const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "a" }] } };
const resizable = { name: "a", image: "a", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } };
const configMap = (name: string, more: JsonObject = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "new" }, spec: {} };
const thing = (name: string) => ({ apiVersion: "open.example.com/v1", kind: "Thing", metadata: { name } });
const PATCHES = {
  json: "json-patch+json",
  merge: "merge-patch+json",
  strategic: "strategic-merge-patch+json",
  apply: "apply-patch+yaml",
};

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The content type, if it is not JSON. */
  readonly type?: string;
}

const patch = (kind: keyof typeof PATCHES, at: string, body: unknown): Route => ({
  method: "PATCH",
  path: at,
  body,
  type: `application/${PATCHES[kind]}`,
});

/** Every way to change an object, or to act on one. */
const ROUTES: Readonly<Record<string, Route>> = {
  create: { method: "POST", path: `${CORE}/configmaps`, body: configMap("new") },
  "create with a generated name": {
    method: "POST",
    path: `${CORE}/configmaps`,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "new-" } },
  },
  "create that is large": { method: "POST", path: `${CORE}/configmaps`, body: configMap("new", { data: { LARGE } }) },
  "create of an object without a definition": {
    method: "POST",
    path: "/apis/open.example.com/v1/namespaces/guarded/things",
    body: thing("new"),
  },
  "dry run": { method: "POST", path: `${CORE}/configmaps?dryRun=All`, body: configMap("new") },
  update: { method: "PUT", path: `${CORE}/configmaps/base`, body: configMap("base", { data: { a: "b" } }) },
  "update that changes nothing": { method: "PUT", path: `${CORE}/configmaps/base`, body: configMap("base") },
  "create by update": {
    method: "PUT",
    path: "/apis/coordination.k8s.io/v1/namespaces/guarded/leases/new",
    body: lease,
  },
  "JSON patch": patch("json", `${CORE}/configmaps/base`, [{ op: "add", path: "/data", value: { a: "b" } }]),
  "merge patch": patch("merge", `${CORE}/configmaps/base`, { data: { a: "b" } }),
  "strategic merge patch": patch("strategic", `${CORE}/configmaps/base`, { data: { a: "b" } }),
  apply: patch("apply", `${CORE}/configmaps/base?fieldManager=m`, configMap("base", { data: { a: "b" } })),
  "create by apply": patch("apply", `${CORE}/configmaps/new?fieldManager=m`, configMap("new")),
  "update of the status": {
    method: "PUT",
    path: `${APPS}/deployments/base/status`,
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "base" },
      spec: { selector: {}, template },
      status: {},
    },
  },
  "patch of the status": patch("merge", `${CORE}/pods/base/status`, { status: { reason: "r" } }),
  "update of the scale": {
    method: "PUT",
    path: `${APPS}/deployments/base/scale`,
    body: {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "base", namespace: "guarded" },
      spec: { replicas: 2 },
    },
  },
  "patch of the scale": patch("merge", `${APPS}/deployments/base/scale`, { spec: { replicas: 2 } }),
  "ephemeral containers": patch("strategic", `${CORE}/pods/base/ephemeralcontainers`, {
    spec: { ephemeralContainers: [{ name: "e", image: "e", terminationMessagePolicy: "File" }] },
  }),
  resize: patch("strategic", `${CORE}/pods/base/resize`, {
    spec: { containers: [{ name: "a", resources: { requests: { cpu: "2" }, limits: { cpu: "2" } } }] },
  }),
  binding: {
    method: "POST",
    path: `${CORE}/pods/base/binding`,
    body: { apiVersion: "v1", kind: "Binding", metadata: { name: "base" }, target: { kind: "Node", name: "n" } },
  },
  "binding by its own resource": {
    method: "POST",
    path: `${CORE}/bindings`,
    body: { apiVersion: "v1", kind: "Binding", metadata: { name: "base" }, target: { kind: "Node", name: "n" } },
  },
  eviction: {
    method: "POST",
    path: `${CORE}/pods/base/eviction`,
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "base" } },
  },
  "token request": {
    method: "POST",
    path: `${CORE}/serviceaccounts/default/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  },
  deletion: { method: "DELETE", path: `${CORE}/configmaps/base` },
  "deletion of a collection": { method: "DELETE", path: `${CORE}/configmaps` },
  connect: { method: "POST", path: `${CORE}/pods/base/exec?command=ls` },
};

suite("a policy", () => {
  let folder: string;
  let server: Server;
  let client: Client;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-policies-"));
    const own = { certDir: folder, securePort: 0, shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
    client = clientFor(server.url, server.token);
    await create("/api/v1/namespaces", { metadata: { name: "guarded", labels: { guarded: "yes" } } });
    await eventually(async () => (await client.call("GET", `${CORE}/serviceaccounts/default`)).status === 200);
    await eventually(async () => (await client.call("GET", `${CORE}/configmaps/kube-root-ca.crt`)).status === 200);
    await create(`${CORE}/configmaps`, configMap("base"));
    await create(`${CORE}/pods`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "base" },
      spec: { containers: [resizable] },
    });
    const spec = { replicas: 1, selector: { matchLabels: { app: "a" } }, template };
    await create(`${APPS}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "base" },
      spec,
    });
    await create("/apis/open.example.com/v1/namespaces/guarded/things", thing("base"));
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  async function create(at: string, body: unknown): Promise<void> {
    const { status, body: answer } = await client.call("POST", at, body);
    assert.equal(status, 201, JSON.stringify(answer));
  }

  const send = ({ method, path: at, body, type }: Route): Promise<Answer> =>
    client.call(method, at, body, type === undefined ? {} : { "content-type": type });

  test("cannot be bypassed by any route", async (t) => {
    const rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };
    const matchConstraints = { resourceRules: [rule], namespaceSelector: { matchLabels: { guarded: "yes" } } };
    // Removing the labels of the namespace is allowed, which is how the test ends.
    const validations = [{ expression: "request.kind.kind == 'Namespace'", message: "guarded" }];
    const metadata = { name: "guard" };
    await create(`${POLICIES}/validatingadmissionpolicies`, { metadata, spec: { matchConstraints, validations } });
    const bound = { policyName: "guard", validationActions: ["Deny"] };
    await create(`${POLICIES}/validatingadmissionpolicybindings`, { metadata, spec: bound });
    const probe = { method: "POST", path: `${CORE}/configmaps?dryRun=All`, body: configMap("probe") };
    await eventually(async () => (await send(probe)).status === 422);
    const before = await client.call("GET", `${CORE}/configmaps/base`);
    for (const [name, route] of Object.entries(ROUTES)) {
      await t.test(name, async () => {
        const { status, body } = await send(route);
        assert.equal(status, 422, JSON.stringify(body));
        assert.match(
          body.message,
          /is forbidden: ValidatingAdmissionPolicy 'guard' with binding 'guard' denied request: guarded$/,
        );
      });
    }
    const stored = await client.call("GET", `${CORE}/configmaps/base`);
    assert.deepEqual(stored.body, before.body);
    await client.call("DELETE", `${POLICIES}/validatingadmissionpolicybindings/guard`);
    await eventually(async () => (await send(probe)).status === 201);
  });

  test("changes writes of the server's own controllers too", async () => {
    const rule = {
      operations: ["CREATE"],
      apiGroups: [""],
      apiVersions: ["v1"],
      resources: ["configmaps", "serviceaccounts"],
    };
    const expression = "Object{metadata: Object.metadata{labels: {'seen-by': 'policy'}}}";
    const spec = {
      matchConstraints: { resourceRules: [rule] },
      mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
      reinvocationPolicy: "Never",
    };
    const metadata = { name: "label" };
    await create(`${POLICIES}/mutatingadmissionpolicies`, { metadata, spec });
    await create(`${POLICIES}/mutatingadmissionpolicybindings`, { metadata, spec: { policyName: "label" } });
    await eventually(async () => {
      const { body } = await client.call(
        "POST",
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        configMap("probe"),
      );
      return body.metadata.labels?.["seen-by"] === "policy";
    });
    await create("/api/v1/namespaces", { metadata: { name: "later" } });
    for (const at of ["configmaps/kube-root-ca.crt", "serviceaccounts/default"]) {
      const found = () => client.call("GET", `/api/v1/namespaces/later/${at}`);
      await eventually(async () => (await found()).status === 200);
      assert.deepEqual((await found()).body.metadata.labels, { "seen-by": "policy" }, at);
    }
  });
});
