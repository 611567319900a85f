import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import type { Schema } from "../../schema/schema.ts";
import { applyPatch } from "./apply-patch.ts";
import { keepTimes } from "./keep-times.ts";
import { findProblem } from "./managers.ts";
import { defaultResetFields } from "./reset-fields.ts";
import type { TrackingScope } from "./scope.ts";
import { trackUpdate } from "./track-update.ts";

const configMap: TrackingScope = {
  apiVersion: "v1",
  kind: "ConfigMap",
  schemaOf: (version) => (version === "v1" ? builtInSchema("io.k8s.api.core.v1.ConfigMap") : undefined),
  convert: () => undefined,
};
const object = (data: JsonObject, managedFields?: Json[]): KubeObject => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name: "x", namespace: "d", uid: "u", ...(managedFields === undefined ? {} : { managedFields }) },
  data,
});
const at = (second: number): string => `2030-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const entry = (manager: string, second: number | undefined, fieldsV1: JsonObject, operation = "Update"): Json => ({
  ...{ manager, operation, apiVersion: "v1" },
  ...(second === undefined ? {} : { time: at(second) }),
  ...{ fieldsType: "FieldsV1", fieldsV1 },
});
const first = [entry("a", 1, { "f:data": { ".": {}, "f:k": {} } })];
const track = (live: KubeObject | undefined, next: KubeObject, manager: string, second = 2) =>
  trackUpdate(configMap, { live, next, manager, now: at(second) }).managedFields;

suite("tracking an update", () => {
  test("a create is owned by its manager, with fields in wire order", () => {
    const printed = JSON.stringify(track(undefined, object({ k: "1" }), "a", 1));
    assert.equal(printed, JSON.stringify(first));
    assert.deepEqual(track(undefined, object({ k: "1" }), "", 1), [
      entry("unknown", 1, { "f:data": { ".": {}, "f:k": {} } }),
    ]);
  });

  test("a change takes over the field, the same value does not", () => {
    assert.deepEqual(track(object({ k: "1" }, first), object({ k: "2" }), "b"), [
      entry("a", 1, { "f:data": {} }),
      entry("b", 2, { "f:data": { "f:k": {} } }),
    ]);
    const live = object({ k: "1" }, first);
    assert.equal(track(live, object({ k: "1" }), "b"), live.metadata.managedFields);
    assert.deepEqual(track(live, { ...object({}), data: undefined }, "b"), undefined);
  });

  test("an object without managed fields stays untracked", () => {
    assert.equal(track(object({ k: "1" }), object({ k: "2" }), "b"), undefined);
  });

  test("clients can edit and reset entries, but not through a subresource", () => {
    const live = object({ k: "1" }, first);
    const edited = [entry("invented", 0, { "f:data": { "f:k": {}, ".": {} } }, "Apply")];
    assert.equal(
      JSON.stringify(track(live, object({ k: "1" }, edited), "b")),
      JSON.stringify([entry("invented", 0, { "f:data": { ".": {}, "f:k": {} } }, "Apply")]),
    );
    for (const reset of [[], [{}]]) assert.equal(track(live, object({ k: "1" }, reset), "b"), undefined);
    for (const bad of [
      [{ manager: "x" }],
      [{ ...Object(first[0]), fieldsType: "FieldsV9" }],
      [{ ...Object(first[0]), fieldsV1: { x: {} } }],
    ]) {
      assert.equal(track(live, object({ k: "1" }, bad), "b"), first);
      assert.notEqual(findProblem(bad), undefined);
    }
    const scope = { ...configMap, subresource: "status" };
    assert.equal(
      trackUpdate(scope, { live, next: object({ k: "1" }, []), manager: "b", now: at(2) }).managedFields,
      first,
    );
    const custom = { ...configMap, isUnstructured: true };
    assert.equal(
      trackUpdate(custom, { live, next: object({ k: "1" }, []), manager: "b", now: at(2) }).managedFields,
      first,
    );
  });

  test("drops entries in removed versions with the next write", () => {
    const old = { ...Object(entry("old", 0, { "f:data": { "f:k": {} } })), apiVersion: "v0" };
    const live = object({ k: "1" }, [old, ...first]);
    assert.deepEqual(track(live, object({ k: "1", l: "1" }), "b"), [
      ...first,
      entry("b", 2, { "f:data": { "f:l": {} } }),
    ]);
  });

  test("merges the oldest of more than ten updaters", () => {
    let live = object({});
    live = {
      ...live,
      metadata: { ...live.metadata, managedFields: track(undefined, object({ k: "1" }), "m0", 0) },
      data: { k: "1" },
    };
    for (let i = 1; i <= 12; i++) {
      const next = object({ ...(live.data as JsonObject), [`k${i}`]: "1" });
      next.metadata.managedFields = track(live, next, `m${i}`, i);
      live = next;
    }
    const entries = live.metadata.managedFields as JsonObject[];
    assert.equal(entries.length, 10);
    assert.deepEqual(
      entries[0],
      entry("ancient-changes", 3, { "f:data": { ".": {}, "f:k": {}, "f:k1": {}, "f:k2": {}, "f:k3": {} } }),
    );
  });

  test("a value that does not match the schema does not change ownership", () => {
    const live = object({ k: "1" }, first);
    const next = { ...live, metadata: { ...live.metadata, finalizers: [null] as unknown as string[] } };
    assert.equal(track(live, next, "b"), first);
  });

  test("writes to status do not own spec, and vice versa", () => {
    const pod: TrackingScope = {
      ...{ apiVersion: "v1", kind: "Pod", subresource: "status", convert: () => undefined },
      schemaOf: () => builtInSchema("io.k8s.api.core.v1.Pod"),
      resetFields: () => defaultResetFields("status", true),
    };
    const base: KubeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "x", uid: "u", managedFields: first },
      spec: {},
      status: {},
    };
    const next = { ...base, spec: { nodeName: "n" }, status: { phase: "Running" } };
    const { managedFields } = trackUpdate(pod, { live: base, next, manager: "kubelet", now: at(2) });
    assert.deepEqual(managedFields?.[1], {
      ...Object(entry("kubelet", 2, { "f:status": { "f:phase": {} } })),
      subresource: "status",
    });
  });
});

suite("applying", () => {
  const apply = (live: KubeObject | undefined, data: JsonObject | undefined, manager: string, isForced = false) =>
    applyPatch(configMap, {
      ...{ live, manager, isForced, now: at(9) },
      applied: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "x" },
        ...(data === undefined ? {} : { data }),
      },
    });
  const named = (fields: JsonObject, manager: string, second?: number) => entry(manager, second, fields, "Apply");

  test("twice has the same result as once", () => {
    const created = apply(undefined, { k: "1" }, "a");
    assert.deepEqual(created.metadata.managedFields, [named({ "f:data": { "f:k": {} } }, "a", 9)]);
    assert.deepEqual(apply(created, { k: "1" }, "a"), created);
  });

  test("shares fields, gives them up, and removes fields without another owner", () => {
    const created = apply(undefined, { k: "1", l: "1" }, "a");
    const shared = apply(created, { k: "1" }, "b");
    assert.deepEqual(shared.metadata.managedFields?.[0], named({ "f:data": { "f:k": {} } }, "b"));
    assert.deepEqual(apply(shared, {}, "a").data, { k: "1" });
    assert.deepEqual(apply(shared, undefined, "b").data, { k: "1", l: "1" });
    assert.equal(apply(shared, undefined, "b").metadata.managedFields?.length, 1);
  });

  test("reports conflicts, and takes over fields with force", () => {
    const created = apply(undefined, { k: "1" }, "a");
    assert.throws(() => apply(created, { k: "2" }, "b"), {
      message: 'Apply failed with 1 conflict: conflict with "a": .data.k',
      code: 409,
    });
    const forced = apply(created, { k: "2" }, "b", true);
    assert.deepEqual(forced.metadata.managedFields, [named({ "f:data": { "f:k": {} } }, "b", 9)]);
  });

  test("attributes fields of an untracked object to before-first-apply", () => {
    const got = apply(object({ k: "1" }), { l: "1" }, "a").metadata.managedFields;
    assert.deepEqual(got, [
      named({ "f:data": { "f:l": {} } }, "a", 9),
      entry("before-first-apply", 9, { "f:data": { ".": {}, "f:k": {} } }),
    ]);
  });

  test("rejects other kinds, managed fields, and undeclared fields", () => {
    const send = (applied: JsonObject) => () =>
      applyPatch(configMap, { live: undefined, applied, manager: "a", isForced: false, now: at(1) });
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "n" } };
    assert.throws(send({}), { code: 400, message: "invalid object type: /, Kind=" });
    assert.throws(send({ ...body, apiVersion: "a/b", kind: "K" }), { message: "invalid object type: a/b, Kind=K" });
    assert.throws(send({ ...body, metadata: { managedFields: [] } }), {
      code: 400,
      message: "metadata.managedFields must be nil",
    });
    const message =
      "failed to create typed patch object (n/x; /v1, Kind=ConfigMap): .foo: field not declared in schema";
    assert.throws(send({ ...body, foo: 1 }), { code: 500, message });
  });

  test("kubectl takes over the fields of client-side apply", () => {
    const name = "kubectl.kubernetes.io/last-applied-configuration";
    const last = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { k: "1" } });
    const live = object({ k: "1", l: "1" });
    live.metadata.annotations = { [name]: last };
    live.metadata.managedFields = track(undefined, live, "kubectl-client-side-apply");
    const taken = apply(live, { k: "2" }, "kubectl");
    assert.equal(
      taken.metadata.annotations?.[name],
      '{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"x"}}\n',
    );
    assert.throws(() => apply(live, { k: "2" }, "other"), /1 conflict/);
    assert.throws(() => apply(live, { k: "2", l: "2" }, "kubectl"), {
      message: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.l',
    });
  });

  test("compares managers of other versions in their own version", () => {
    const text: Schema = { type: "string" };
    const of = (name: string): Schema => ({
      type: "object",
      properties: new Map<string, Schema>([
        ["apiVersion", text],
        ["kind", text],
        ["metadata", { type: "object", values: text }],
        [name, text],
      ]),
    });
    const scope = (apiVersion: string): TrackingScope => ({
      ...{ apiVersion, kind: "K", isUnstructured: true },
      schemaOf: (version) => ({ v1: of("one"), v2: of("two") })[version],
      convert: ({ one, two, ...rest }, to) => {
        const value = one ?? two;
        return { ...rest, apiVersion: to, ...(value === undefined ? {} : { [to === "v1" ? "one" : "two"]: value }) };
      },
    });
    const send = (apiVersion: string, live: KubeObject | undefined, more: JsonObject, manager = "a") =>
      applyPatch(scope(apiVersion), {
        live,
        applied: { apiVersion, kind: "K", metadata: {}, ...more },
        manager,
        isForced: false,
        now: at(1),
      });
    const created = send("v1", undefined, { one: "1" });
    const inV2 = scope("v1").convert(created, "v2");
    assert.throws(() => send("v2", inV2, { two: "2" }, "b"), /conflict with "a": \.one$/);
    assert.deepEqual(send("v2", inV2, { two: "2" }).two, "2");
    assert.equal(send("v2", inV2, {}).two, undefined);
  });
});

suite("times", () => {
  test("are kept if nothing else differs", () => {
    const stored = object({ k: "1" }, first);
    const later = [entry("a", 5, { "f:data": { ".": {}, "f:k": {} } })];
    assert.deepEqual(keepTimes(stored, object({ k: "1" }, later)), stored);
    const changed = object({ k: "2" }, later);
    assert.equal(keepTimes(stored, changed), changed);
    const other = object({ k: "1" }, [entry("b", 5, { "f:data": { ".": {}, "f:k": {} } })]);
    assert.equal(keepTimes(stored, other), other);
  });
});
