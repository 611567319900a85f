import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { clientFor } from "../../../test/support/client.ts";
import { eventually } from "../../../test/support/time.ts";
import type { Stored } from "./client/client-types.ts";
import { Widgets } from "./client/widgets.suite.ts";
import { type Server, startServer } from "./start-server.ts";

const QUIET = { log: false, shutdownGraceMs: 0, controllers: "none" } as const;
const RBAC = "rbac.authorization.k8s.io";
const jane = { name: "jane", groups: ["painters"], extra: { "shop.example/tenant": ["t1"] } };

suite("requests to a server in this process", () => {
  let server: Server;
  before(async () => {
    server = await startServer({ ...QUIET, kinds: [Widgets] });
  });
  after(() => server.close());

  const whoIs = async (options: Parameters<Server["fetch"]>[1]) => {
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const headers = { "content-type": "application/json", ...(options?.headers as Record<string, string>) };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const response = await server.fetch(path, { method: "POST", body, ...options, headers });
    const { status } = (await response.json()) as { status?: { userInfo: { username: string } } };
    return { code: response.status, user: status?.userInfo };
  };

  test("fetch acts as the administrator, as a given user, or with given credentials", async () => {
    assert.equal((await whoIs({})).user?.username, "kubernetes-admin");
    assert.deepEqual((await whoIs({ user: jane })).user, {
      ...{ username: "jane", groups: ["painters", "system:authenticated"], extra: { "shop.example/tenant": ["t1"] } },
    });
    assert.equal((await whoIs({ headers: { authorization: "Bearer wrong" } })).code, 401);
    const both = await whoIs({ user: jane, headers: { authorization: `Bearer ${server.token}` } });
    assert.equal(both.user?.username, "jane");
    const asked = await server.fetch(new Request(`${server.url}/version`), { user: jane });
    assert.equal(asked.status, 200);
  });

  test("a user cannot become another one by headers", async () => {
    const headers = { "x-remote-user": "admin", "impersonate-user": "admin" };
    assert.equal((await whoIs({ user: jane, headers })).code, 403);
    assert.equal((await whoIs({ user: jane, headers: { "x-remote-user": "admin" } })).user?.username, "jane");
    await assert.rejects(whoIs({ user: { name: "" } }), /a user has no name/);
  });

  test("apply and a client of any kind grant a user permissions", async () => {
    const Roles = { apiVersion: `${RBAC}/v1`, kind: "Role", plural: "roles" };
    const [role] = await server.apply(`
apiVersion: ${RBAC}/v1
kind: Role
metadata: { name: painter }
rules: [{ apiGroups: [shop.example], resources: [widgets], verbs: [create, get] }]
---
apiVersion: ${RBAC}/v1
kind: RoleBinding
metadata: { name: painters }
subjects: [{ kind: Group, name: painters, apiGroup: ${RBAC} }]
roleRef: { kind: Role, name: painter, apiGroup: ${RBAC} }
`);
    const read: Stored = await server.client(Roles).get("painter");
    assert.equal(read.metadata.uid, role?.metadata.uid);
    const widgets = server.client(Widgets, { user: jane });
    const make = () => widgets.create({ metadata: { generateName: "w-" }, spec: { colour: "red" } });
    const made = await eventually(() => make().catch(() => undefined));
    assert.match(made.metadata.name, /^w-/);
    await assert.rejects(widgets.list(), { code: 403 });
  });

  test("a client and the network see the same objects", async () => {
    const widgets = server.client(Widgets);
    const made = await widgets.create({ metadata: { name: "seen" }, spec: { colour: "blue" } });
    const path = "/apis/shop.example/v1/namespaces/default/widgets/seen";
    assert.deepEqual((await clientFor(server.url, server.token).call("GET", path)).body, made);
    const response = await server.fetch(path);
    assert.deepEqual(await response.json(), made);
  });
});

suite("closing a server", () => {
  test("ends watches, informers and reconcilers of this process, and rejects later requests", async () => {
    const server = await startServer({ ...QUIET, kinds: [Widgets], shutdownGraceMs: 60_000 });
    const widgets = server.client(Widgets);
    await widgets.create({ metadata: { name: "a" }, spec: { colour: "red" } });
    const informer = widgets.informer();
    await informer.synced();
    let calls = 0;
    const reconciler = server.reconcile(Widgets, async () => void calls++);
    await reconciler.settled();
    const watched = (async () => {
      for await (const _ of widgets.watch()) calls++;
    })();
    const response = await server.fetch("/api/v1/namespaces?watch=true");
    const streamed = (async () => {
      for await (const _ of response.body ?? []) calls++;
    })();
    await eventually(() => calls >= 3);
    await server.close();
    await assert.rejects(streamed, /the server is closed/);
    await watched.catch((error: unknown) => assert.match(String(error), /the server is closed/));
    assert.equal(informer.get("a")?.spec.size, 3);
    await assert.rejects(widgets.list(), /the server is closed/);
    await assert.rejects(server.fetch("/version"), /the server is closed/);
  });
});
