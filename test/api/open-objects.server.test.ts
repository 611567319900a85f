import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { systemClock } from "../../src/base/util/clock.ts";
import {
  MAX_OPEN_BY_CREATOR,
  MAX_OPEN_IN_NAMESPACE,
  MAX_OPEN_RESOURCES,
  MAX_OPEN_VERSIONS,
} from "../../src/kinds/custom/open/open-kinds.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type Server, startServer } from "../../src/programs/server/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const GROUP = "open.example.com";
const AUTHORIZATION = "rbac.authorization.k8s.io";
const RBAC = `/apis/${AUTHORIZATION}/v1`;
const KEEPS = { "x-kubernetes-preserve-unknown-fields": true };
const at = (plural: string, version = "v1", group = GROUP): string =>
  `/apis/${group}/${version}/namespaces/default/${plural}`;
const cluster = (plural: string): string => `/apis/${GROUP}/v1/${plural}`;
const thing = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  ...more,
});

suite("objects of resources without a definition", () => {
  let server: Server;
  let client: Client;
  let passedMs = 0;

  before(async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + passedMs };
    const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, { ...systemEnvironment(), clock });
    client = clientFor(server.url, server.token);
  });
  after(() => server.close());

  const statusOf = async (method: string, place: string, body?: unknown) =>
    (await client.call(method, place, body)).status;

  test("can have the names of a CustomResourceDefinition", async () => {
    for (const place of [
      at("things", "v1", "nodot"),
      at("things", "v1", "a..b"),
      at("things", "v1", `${"x".repeat(250)}.example.com`),
      at("things", "1"),
      at("things", "V1"),
      at("1things"),
      at("thi_ngs"),
      at("x".repeat(64)),
      at("watch"),
    ]) {
      const [, group = "", version = ""] = /^\/apis\/([^/]*)\/([^/]*)/.exec(place) ?? [];
      const body = { ...thing("a"), apiVersion: `${group}/${version}` };
      assert.equal(await statusOf("POST", place, body), 404, place);
    }
    for (const kind of [undefined, "", "1Thing", "Thi ng", "x".repeat(64), 3]) {
      const refused = await client.call("POST", at("kinds"), thing("a", { kind: kind as string }));
      assert.equal(refused.status, 400, JSON.stringify(kind));
    }
    const long = await client.call("POST", at("names"), thing("x".repeat(254)));
    assert.equal(long.status, 422, JSON.stringify(long.body));
    assert.equal((await client.call("GET", `/apis/${GROUP}`)).status, 404);
  });

  test("cannot have groups of Kubernetes", async () => {
    const metrics = ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"];
    for (const group of [...metrics, "k8s.io", "evil.k8s.io", "kubernetes.io", "a.b.kubernetes.io"]) {
      assert.equal(await statusOf("GET", at("pods", "v1beta1", group)), 404);
      const body = { apiVersion: `${group}/v1beta1`, kind: "PodMetrics", metadata: { name: "a" } };
      assert.equal(await statusOf("POST", at("pods", "v1beta1", group), body), 404);
    }
    for (const group of ["my.metrics.example.com", "notk8s.io", "k8s.io.example.com"]) {
      assert.equal(await statusOf("GET", at("nodemetrics", "v1beta1", group)), 200, group);
    }
  });

  test("can be as large as others", async () => {
    const fits = await client.call("POST", at("sizes"), thing("fits", { spec: { text: "x".repeat(1_000_000) } }));
    assert.equal(fits.status, 201, JSON.stringify(fits.body).slice(0, 500));
    const large = await client.call("POST", at("sizes"), thing("large", { spec: { text: "x".repeat(1_600_000) } }));
    assert.deepEqual([large.status, large.body.message], [500, "etcdserver: request is too large"]);
  });

  test("define another kind and scope once the last of them is deleted", async () => {
    assert.equal(await statusOf("POST", at("changing"), thing("a")), 201);
    assert.equal(await statusOf("POST", at("changing"), thing("b", { kind: "Other" })), 422);
    assert.equal(await statusOf("POST", cluster("changing"), thing("b")), 405);
    await client.call("DELETE", `${at("changing")}/a`);
    assert.equal(await statusOf("POST", at("changing"), thing("b", { kind: "Other" })), 201);
    assert.equal((await client.call("GET", at("changing"))).body.kind, "OtherList");
    await client.call("DELETE", `${at("changing")}/b`);
    assert.equal(await statusOf("POST", cluster("changing"), thing("c", { kind: "Third" })), 201);
    const { body } = await client.call("GET", `/apis/${GROUP}/v1`);
    const { namespaced, kind } = body.resources.find((one: JsonObject) => one.name === "changing");
    assert.deepEqual([namespaced, kind], [false, "Third"]);
  });

  test("have a limited number of versions", async () => {
    for (let number = 1; number <= MAX_OPEN_VERSIONS; number += 1) {
      const body = thing(`a${number}`, { apiVersion: `${GROUP}/v${number}` });
      assert.equal(await statusOf("POST", at("versions", `v${number}`), body), 201);
    }
    const one = MAX_OPEN_VERSIONS + 1;
    const refused = await client.call(
      "POST",
      at("versions", `v${one}`),
      thing("b", { apiVersion: `${GROUP}/v${one}` }),
    );
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /it already has 10 versions/);
  });

  test("have a limited number of resources; one without objects makes room", async () => {
    const { body: before } = await client.call("GET", `/apis/${GROUP}/v1`);
    const known = new Set(before.resources.map(({ name }: JsonObject) => String(name).split("/")[0]));
    const wanted = Array.from({ length: MAX_OPEN_RESOURCES - known.size }, (_, number) => `many${number}`);
    for (let done = 0; done < wanted.length; done += 50) {
      const made = wanted.slice(done, done + 50).map((plural) => statusOf("POST", cluster(plural), thing("a")));
      for (const status of await Promise.all(made)) assert.equal(status, 201);
    }
    const refused = await client.call("POST", cluster("toomany"), thing("a"));
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /there are already 1000 resources without a definition/);
    assert.equal(await statusOf("POST", cluster("many1"), thing("b")), 201);
    await client.call("DELETE", `${cluster("many2")}/a`);
    // A client that just saw the resource may be about to create an object of it.
    passedMs += 20_000;
    assert.equal(await statusOf("POST", cluster("toomany"), thing("a")), 403);
    passedMs += 70_000;
    assert.equal(await statusOf("POST", cluster("toomany"), thing("a")), 201);
    assert.equal(await statusOf("POST", cluster("many2"), thing("a")), 403);
  });
});

suite("users who introduce resources without a definition", { timeout: 120_000 }, () => {
  let server: Server;
  let client: Client;

  before(async () => {
    const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
    client = clientFor(server.url, server.token);
    const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
    await client.call("POST", `${RBAC}/clusterroles`, { metadata: { name: "all" }, rules });
    const team = [{ apiGroups: ["team.example"], resources: ["*"], verbs: ["*"] }];
    await client.call("POST", `${RBAC}/clusterroles`, { metadata: { name: "team" }, rules: team });
    const groups = ["system:serviceaccounts:robots"].map((name) => ({ apiGroup: AUTHORIZATION, kind: "Group", name }));
    const user = (name: string) => ({ apiGroup: AUTHORIZATION, kind: "User", name });
    const bind = (name: string, role: string, subjects: JsonObject[], place = RBAC) =>
      client.call("POST", `${place}/${place === RBAC ? "clusterrolebindings" : "rolebindings"}`, {
        metadata: { name },
        subjects,
        roleRef: { apiGroup: AUTHORIZATION, kind: "ClusterRole", name: role },
      });
    await bind("bob", "all", [user("bob")], `${RBAC}/namespaces/default`);
    await bind("carol", "team", [user("carol")]);
    const many = ["dave", "erin", "frank"].map(user);
    assert.equal((await bind("many", "all", [...many, ...groups])).status, 201);
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  });
  after(() => server.close());

  const create = (user: string, place: string, object: JsonObject, groups: string[] = []) =>
    client.call("POST", place, object, {
      "impersonate-user": user,
      ...(groups.length > 0 && { "impersonate-group": groups[0] ?? "" }),
    });
  const group = (name: string, kind = "Thing"): JsonObject => ({
    apiVersion: `${name}/v1`,
    kind,
    metadata: { name: "a" },
  });

  test("need permission to create it at the cluster scope, and others do not afterwards", async () => {
    const place = at("widgets", "v1", "team.example");
    const refused = await create("bob", place, group("team.example", "Widget"));
    assert.deepEqual(
      [refused.status, refused.body.message],
      [
        403,
        'widgets.team.example is forbidden: User "bob" cannot create resource "widgets" in API group "team.example" at the cluster scope: the first object of a resource or version without a CustomResourceDefinition needs this permission',
      ],
    );
    assert.equal((await client.call("GET", "/apis/team.example")).status, 404, "it is not in discovery");
    assert.equal((await create("carol", place, group("team.example", "Widget"))).status, 201);
    const second = { ...group("team.example", "Widget"), metadata: { name: "b" } };
    assert.equal((await create("bob", place, second)).status, 201);
    const version = { ...second, apiVersion: "team.example/v2", metadata: { name: "c" } };
    assert.equal((await create("bob", at("widgets", "v2", "team.example"), version)).status, 403);
    assert.equal((await create("carol", at("widgets", "v2", "team.example"), version)).status, 201);
    // Once it is empty, another kind may be taught: that is another first object.
    for (const name of ["a", "b", "c"]) await client.call("DELETE", `${place}/${name}`);
    assert.equal((await create("bob", place, group("team.example", "Gadget"))).status, 403);
  });

  test("may introduce so many and no more, also at the same time", async () => {
    const attempts = Array.from({ length: MAX_OPEN_BY_CREATOR + 30 }, (_, index) => `g${index}.dave.example`);
    const made = await Promise.all(attempts.map((name) => create("dave", at("things", "v1", name), group(name))));
    const refused = made.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 30);
    assert.deepEqual(
      new Set(refused.map(({ body }) => body.message.replace(/things\.g\d+/, "things.g"))),
      new Set([
        `things.g.dave.example is forbidden: there are already ${MAX_OPEN_BY_CREATOR} resources without a definition that "dave" has created`,
      ]),
    );
    const known = attempts[made.findIndex(({ status }) => status === 201)] ?? "";
    const more = { ...group(known), metadata: { name: "b" } };
    assert.equal((await create("dave", at("things", "v1", known), more)).status, 201, "it is there already");
    assert.equal((await create("carol", at("things", "v1", "team.example"), group("team.example"))).status, 201);
    assert.equal((await client.call("POST", at("things", "v1", "own.example"), group("own.example"))).status, 201);
  });

  test("count as one if they are service accounts of one namespace", async () => {
    const groups = ["system:serviceaccounts:robots"];
    for (let index = 0; index < MAX_OPEN_BY_CREATOR; index++) {
      const name = `g${index}.robots.example`;
      const place = `/apis/${name}/v1/namespaces/other/things`;
      const made = await create(`system:serviceaccount:robots:r${index}`, place, group(name), groups);
      assert.equal(made.status, 201);
    }
    const one = "more.robots.example";
    const made = await create("system:serviceaccount:robots:new", at("things", "v1", one), group(one), groups);
    assert.equal(made.status, 403);
    assert.match(made.body.message, /without a definition that "system:serviceaccounts:robots" has created$/);
  });

  test("may introduce so many in one namespace and no more", async () => {
    const names = (user: string) =>
      Array.from({ length: MAX_OPEN_BY_CREATOR }, (_, index) => `g${index}.${user}.example`);
    const statuses: number[] = [];
    for (const user of ["erin", "frank"]) {
      const made = names(user).map((name) => create(user, `/apis/${name}/v1/namespaces/other/things`, group(name)));
      statuses.push(...(await Promise.all(made)).map(({ status }) => status));
    }
    const left = MAX_OPEN_IN_NAMESPACE - MAX_OPEN_BY_CREATOR;
    assert.equal(statuses.filter((status) => status === 201).length, left);
    const one = "g99.frank.example";
    const refused = await create("frank", `/apis/${one}/v1/namespaces/other/things`, group(one));
    assert.match(refused.body.message, /without a definition from the namespace "other"$/);
    assert.equal((await create("frank", `/apis/${one}/v1/namespaces/default/things`, group(one))).status, 201);
  });
});

suite("a definition that comes later", { timeout: 120_000 }, () => {
  let server: Server;
  let client: Client;

  before(async () => {
    const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
    client = clientFor(server.url, server.token);
    // A definition owns its group: there are no further resources without one.
    const make = async (place: string, object: JsonObject) =>
      assert.equal((await client.call("POST", place, object)).status, 201);
    await make(at("things"), thing("a"));
    await make(at("gadgets"), thing("a"));
    await make(cluster("globals"), thing("a", { kind: "Global" }));
    for (let index = 0; index < 120; index++) await make(at("shared"), thing(`a${index}`, { kind: "Shared" }));
  });
  after(() => server.close());

  const define = async (plural: string, kind: string, scope: string): Promise<void> => {
    const versions = [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", ...KEEPS } } },
    ];
    const spec = { group: GROUP, scope, names: { plural, kind, singular: kind.toLowerCase() }, versions };
    const place = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const metadata = { name: `${plural}.${GROUP}` };
    const made = await client.call("POST", place, { metadata, spec });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await eventually(async () => {
      const { body } = await client.call("GET", `${place}/${metadata.name}`);
      return body.status?.conditions?.some((one: JsonObject) => one.type === "Established" && one.status === "True");
    });
    await eventually(async () => (await client.call("GET", cluster(plural))).body.kind === `${kind}List`);
  };
  const namesOf = async (plural: string) => {
    const { body } = await client.call("GET", cluster(plural));
    return [body.kind, body.items.map(({ metadata }: { metadata: JsonObject }) => metadata.name)];
  };

  test("takes over objects of its kind and scope", async () => {
    await define("things", "Thing", "Namespaced");
    assert.deepEqual(await namesOf("things"), ["ThingList", ["a"]]);
  });

  test("lists none of another kind", async () => {
    await define("gadgets", "Gadget", "Namespaced");
    assert.deepEqual(await namesOf("gadgets"), ["GadgetList", []]);
    assert.equal((await client.call("GET", `${at("gadgets")}/a`)).status, 404);
    assert.equal((await client.call("POST", at("gadgets"), thing("a", { kind: "Gadget" }))).status, 201);
  });

  test("lists none of another scope, in either direction", async () => {
    await define("shared", "Shared", "Cluster");
    assert.deepEqual(await namesOf("shared"), ["SharedList", []]);
    await define("globals", "Global", "Namespaced");
    assert.deepEqual(await namesOf("globals"), ["GlobalList", []]);
    const { body } = await client.call("GET", `/apis/${GROUP}/v1`);
    const scopes = Object.fromEntries(body.resources.map((one: JsonObject) => [one.name, one.namespaced]));
    assert.deepEqual([scopes.shared, scopes.globals], [false, true]);
  });
});

test("objects of resources without a definition, and their records, survive a restart", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-open-"));
  const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100, certDir: folder } as const;
  const store = { type: "sqlite", file: path.join(folder, "store.db") } as const;
  const start = () => startServer({ ...defaultConfig, ...own, store }, systemEnvironment());
  try {
    const first = await start();
    const client = clientFor(first.url, first.token);
    assert.equal((await client.call("POST", at("things"), thing("a", { spec: { colour: "red" } }))).status, 201);
    const second = thing("b", { apiVersion: `${GROUP}/v2` });
    assert.equal((await client.call("POST", at("things", "v2"), second)).status, 201);
    const discovered = (await client.call("GET", `/apis/${GROUP}`)).body;
    await first.close();
    const again = await start();
    const later = clientFor(again.url, again.token);
    assert.deepEqual((await later.call("GET", `/apis/${GROUP}`)).body, discovered);
    const { kind, items } = (await later.call("GET", at("things", "v2"))).body;
    assert.equal(kind, "ThingList");
    assert.deepEqual(
      items.map(({ metadata }: { metadata: JsonObject }) => metadata.name),
      ["a", "b"],
    );
    assert.deepEqual((await later.call("GET", `${at("things")}/a`)).body.spec, { colour: "red" });
    assert.equal((await later.call("POST", at("things"), thing("c", { kind: "Other" }))).status, 422);
    await again.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
