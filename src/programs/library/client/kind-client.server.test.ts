import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import { forkPerTest } from "../../testing/fork-per-test.ts";
import type { KindEvent } from "./client-types.ts";
import { Shelves, Widgets } from "./widgets.suite.ts";

const cp = forkPerTest(hooks, { kinds: [Widgets, Shelves], controllers: "none" });
const widgets = () => cp().client(Widgets);
const red = (name: string, labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { colour: "red" } as const,
});

/** Matches the error of a request. */
const refusal = (code: number, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApiError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, text);
  return true;
};

async function take<T>(events: AsyncIterable<T>, count = Number.POSITIVE_INFINITY): Promise<T[]> {
  const taken: T[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

suite("a client of a kind", () => {
  test("creates, reads, replaces and deletes objects", async () => {
    const made = await widgets().create(red("a"));
    assert.deepEqual(made.spec, { colour: "red", size: 3 });
    assert.deepEqual(await widgets().get("a"), made);
    made.spec.size = 4;
    const larger = await widgets().update(made);
    assert.equal(larger.spec.size, 4);
    await assert.rejects(widgets().update(made), refusal(409, /the object has been modified/));
    await widgets().delete(larger.metadata, { preconditions: { uid: larger.metadata.uid } });
    assert.equal(await widgets().find("a"), undefined);
    await assert.rejects(widgets().get("a"), refusal(404, /widgets.shop.example "a" not found/));
  });

  test("returns copies", async () => {
    const made = await widgets().create(red("a"));
    made.spec.size = 100;
    const listed = (await widgets().list()).items[0];
    assert.ok(listed);
    listed.spec.size = 100;
    assert.equal((await widgets().get("a")).spec.size, 3);
  });

  test("does not keep what it was given", async () => {
    const parts = [{ name: "leg" }];
    const input = { ...red("a"), spec: { colour: "red", parts } } as const;
    await widgets().create(input);
    assert.deepEqual(parts, [{ name: "leg" }]);
    assert.deepEqual((await widgets().get("a")).spec.parts, [{ name: "leg", count: 1 }]);
  });

  test("changes members by merge patch and by JSON patch", async () => {
    await widgets().create(red("a", { tier: "x" }));
    const merged = await widgets().patch("a", { metadata: { labels: { tier: null } }, spec: { size: 9 } });
    assert.deepEqual([merged.spec.size, merged.metadata.labels], [9, undefined]);
    const patched = await widgets().patch("a", [
      { op: "test", path: "/spec/size", value: 9 },
      { op: "remove", path: "/spec/size" },
    ]);
    assert.equal(patched.spec.size, 3);
  });

  test("applies the fields that it owns", async () => {
    await widgets().apply({ ...red("a"), spec: { colour: "red", label: "mine" } });
    const other = cp().client(Widgets, { fieldManager: "other" });
    const label = { metadata: { name: "a" }, spec: { label: "theirs" } };
    await assert.rejects(other.apply(label), refusal(409, /conflict with "binnacle-client": .spec.label/));
    const forced = await other.apply(label, { force: true });
    assert.equal(forced.spec.label, "theirs");
    const given = await widgets().apply(red("a"));
    assert.equal(given.spec.label, "theirs");
  });

  test("writes the status apart from the object", async () => {
    const made = await widgets().create(red("a"));
    const painted = await widgets().status.patch("a", { painted: true });
    assert.deepEqual(painted.status, { painted: true });
    const noted = await widgets().status.apply("a", { note: "dry" });
    assert.deepEqual(noted.status, { painted: true, note: "dry" });
    await assert.rejects(widgets().status.update(made), refusal(409, /the object has been modified/));
    const next = { ...noted, spec: { ...noted.spec, size: 8 }, status: { painted: false } };
    const updated = await widgets().status.update(next);
    assert.deepEqual([updated.status, updated.spec.size], [{ painted: false }, 3]);
  });

  test("rejects unknown fields, invalid values and bodies that are too large", async () => {
    const client = cp().client({ apiVersion: Widgets.apiVersion, kind: Widgets.kind, plural: Widgets.plural });
    const make = (spec: object) => client.create({ metadata: { name: "a" }, spec });
    await assert.rejects(make({ colour: "red", weight: 1 }), refusal(400, /unknown field "spec.weight"/));
    await assert.rejects(make({ colour: "green" }), refusal(422, /spec.colour: Unsupported value: "green"/));
    await assert.rejects(make({ colour: "red", label: "x".repeat(4e6) }), refusal(413, /limit is 3145728/));
    assert.equal((await widgets().create(red("a"), { dryRun: true })).spec.size, 3);
    assert.equal(await widgets().find("a"), undefined);
  });

  test("selects by labels and fields, in one namespace or in all", async () => {
    await cp().apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await widgets().create(red("a", { tier: "x" }));
    await widgets().create(red("b"));
    await cp()
      .client(Widgets, { namespace: "shop" })
      .create(red("c", { tier: "x" }));
    const names = async (options: Parameters<ReturnType<typeof widgets>["list"]>[0]) =>
      (await widgets().list(options)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    assert.deepEqual(await names({ labelSelector: { tier: "x" } }), ["default/a"]);
    assert.deepEqual(await names({ labelSelector: "!tier" }), ["default/b"]);
    assert.deepEqual(await names({ fieldSelector: { "metadata.name": "b" } }), ["default/b"]);
    assert.deepEqual(await names({ namespace: "shop" }), ["shop/c"]);
    assert.deepEqual(await names({ allNamespaces: true, labelSelector: "tier" }), ["default/a", "shop/c"]);
    await assert.rejects(names({ labelSelector: { tier: "y,tier!=y" } }), refusal(400, /invalid label value/));
    assert.deepEqual(await names({ fieldSelector: { "metadata.name": "b,metadata.namespace!=x" } }), []);
    const inShop = await widgets().get({ name: "c", namespace: "shop" });
    assert.deepEqual(await widgets().get(inShop.metadata), inShop);
  });

  test("lists page by page", async () => {
    for (const name of ["a", "b", "c"]) await widgets().create(red(name));
    const first = await widgets().list({ limit: 2 });
    assert.deepEqual([first.items.length, typeof first.continue], [2, "string"]);
    const { items, continue: more } = await widgets().list({ limit: 2, continue: first.continue ?? "" });
    assert.deepEqual([items[0]?.metadata.name, more], ["c", undefined]);
    const names = (await take(widgets().each({ limit: 1 }))).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ["a", "b", "c"]);
  });

  test("reads and writes a kind without a namespace", async () => {
    const shelves = cp().client(Shelves);
    const made = await shelves.create({ metadata: { name: "s" }, spec: { height: 2 } });
    assert.equal(made.metadata.namespace, undefined);
    assert.deepEqual(await shelves.get("s"), made);
  });

  test("acts as a user, with the permissions of that user", async () => {
    const user = { name: "jane", groups: ["painters"] };
    const jane = cp().client(Widgets, { user });
    await assert.rejects(jane.list(), refusal(403, /User "jane" cannot list resource "widgets"/));
    await cp().apply([
      {
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "painter" } },
        rules: [{ apiGroups: ["shop.example"], resources: ["widgets"], verbs: ["list", "create"] }],
      },
      {
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: { name: "painters" } },
        subjects: [{ kind: "Group", name: "painters", apiGroup: "rbac.authorization.k8s.io" }],
        roleRef: { kind: "Role", name: "painter", apiGroup: "rbac.authorization.k8s.io" },
      },
    ]);
    await cp().settled();
    await jane.create(red("a"));
    assert.equal((await jane.list()).items.length, 1);
    await assert.rejects(jane.delete("a"), refusal(403, /cannot delete/));
    const created = cp().requests.list({ resource: "widgets", verb: "create" });
    assert.deepEqual(
      created.map(({ user: name, groups }) => [name, groups]),
      [["jane", ["painters", "system:authenticated"]]],
    );
  });

  for (const name of ["", ".", "..", "a/status", "..%2f"]) {
    test(`does not address anything else by the name ${JSON.stringify(name)}`, async () => {
      await assert.rejects(widgets().get(name), refusal(400, /invalid name/));
      await assert.rejects(widgets().list({ namespace: name }), refusal(400, /invalid namespace/));
    });
  }
});

suite("a watch of a client", () => {
  test("sends existing objects and changes until it is left", async () => {
    await widgets().create(red("a"));
    const events = take(widgets().watch({ labelSelector: "!hidden" }), 3);
    await cp().settled();
    await widgets().patch("a", { spec: { size: 4 } });
    await widgets().delete("a");
    const shown = ({ type, ...event }: KindEvent<typeof Widgets.Object>) =>
      "object" in event ? [type, event.object.spec.size] : [type];
    assert.deepEqual((await events).map(shown), [
      ["ADDED", 3],
      ["MODIFIED", 4],
      ["DELETED", 4],
    ]);
  });

  test("continues a list, and ends with its signal", async () => {
    await widgets().create(red("a"));
    const { resourceVersion } = await widgets().list();
    const stop = new AbortController();
    const events = take(widgets().watch({ resourceVersion, signal: stop.signal }));
    await widgets().create(red("b"));
    await cp().settled();
    stop.abort();
    assert.deepEqual(
      (await events).map((event) => "object" in event && event.object.metadata.name),
      ["b"],
    );
    assert.deepEqual(await take(widgets().watch({ signal: stop.signal })), []);
  });

  test("throws 410 if the changes are gone", async () => {
    const { resourceVersion } = await widgets().list();
    for (const name of ["a", "b"]) await widgets().create(red(name));
    await cp().faults.compact();
    await assert.rejects(take(widgets().watch({ resourceVersion }), 1), refusal(410, /too old resource version/));
  });
});
