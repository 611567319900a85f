import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { forkPerTest } from "../testing/fork-per-test.ts";
import { defineKind } from "./define-kind.ts";
import { loadKinds } from "./load-kinds.ts";

const Widgets = defineKind({
  group: "shop.example",
  kind: "Widget",
  shortNames: ["wd"],
  schema: {
    spec: {
      type: "object",
      required: ["colour"],
      properties: {
        colour: { type: "string", enum: ["red", "blue"] },
        size: { type: "integer", default: 3, minimum: 1 },
        label: { type: "string" },
        parts: { type: "array", items: { type: "string" } },
      },
    },
    status: { type: "object", properties: { summary: { type: "string" } } },
  },
  columns: [{ name: "Colour", type: "string", jsonPath: ".spec.colour" }],
  versions: {
    v1alpha1: {
      deprecated: true,
      schema: { spec: { type: "object", properties: { color: { type: "string" } } } },
      toStored: ({ spec }) => ({ spec: { colour: spec.color } }),
      fromStored: ({ spec }) => ({ spec: { color: spec.colour }, status: undefined }),
    },
  },
  setDefaults: ({ spec, metadata }) => {
    spec.label ??= `${spec.colour} ${metadata.name}`;
  },
  validate: ({ spec }, previous) => [
    ...(spec.parts?.some((part) => part.startsWith("x")) ? [{ field: "spec.parts", message: "no x" }] : []),
    ...(spec.size > 10 && spec.colour === "red" ? [{ field: "spec.size", message: "red widgets are small" }] : []),
    ...(previous && previous.spec.colour !== spec.colour
      ? [{ field: "spec.colour", message: "paint does not come off" }]
      : []),
  ],
  status: ({ spec }) => ({ summary: `${spec.size} × ${spec.colour}` }),
});

const cp = forkPerTest(hooks, { kinds: [Widgets] });
const PATH = "/apis/shop.example/v1/namespaces/default/widgets";

async function send(method: string, path: string, body?: object, type = "application/json") {
  const headers = { "content-type": type, accept: "application/json" };
  const response = await cp().fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  return { status: response.status, warning: response.headers.get("warning"), body: (await response.json()) as any };
}
const widget = (spec: object, version = "v1") => ({
  ...{ apiVersion: `shop.example/${version}`, kind: "Widget", metadata: { name: "w" }, spec },
});

suite("a kind in TypeScript", () => {
  test("is served with discovery, defaults, status and apply", async () => {
    const { body: list } = await send("GET", "/apis/shop.example/v1");
    assert.deepEqual(
      list.resources.map(({ name }: { name: string }) => name),
      ["widgets", "widgets/status"],
    );
    const created = await send("POST", PATH, widget({ colour: "blue" }));
    assert.equal(created.status, 201);
    assert.deepEqual(created.body.spec, { colour: "blue", size: 3, label: "blue w" });
    assert.deepEqual(created.body.status, { summary: "3 × blue" });
    const applied = await send(
      "PATCH",
      `${PATH}/w?fieldManager=me&force=1`,
      widget({ size: 5 }),
      "application/apply-patch+yaml",
    );
    assert.deepEqual(applied.body.status, { summary: "5 × blue" });
    const table = await cp().fetch(PATH, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    assert.deepEqual(((await table.json()) as { rows: { cells: unknown[] }[] }).rows[0]?.cells, ["w", "blue"]);
  });

  test("is validated by its schema and by its function", async () => {
    const bad = await send("POST", PATH, widget({ colour: "green" }));
    assert.match(bad.body.message, /spec.colour: Unsupported value: "green"/);
    const large = await send("POST", PATH, widget({ colour: "red", size: 11 }));
    assert.equal(large.status, 422);
    assert.match(
      large.body.message,
      /Widget.shop.example "w" is invalid: spec.size: Invalid value: 11: red widgets are small/,
    );
    const partless = (await send("POST", PATH, widget({ colour: "blue", parts: "none" }))).body.message;
    assert.match(partless, /spec.parts: Invalid value: "string": spec.parts in body must be of type array/);
    const { spec: _, ...bare } = widget({});
    const bareMessage = (await send("POST", PATH, bare)).body.message;
    assert.equal(bareMessage, 'Widget.shop.example "w" is invalid: spec: Required value');
    await send("POST", PATH, widget({ colour: "red" }));
    const painted = await send("PATCH", `${PATH}/w`, { spec: { colour: "blue" } }, "application/merge-patch+json");
    assert.match(painted.body.message, /paint does not come off/);
  });

  test("is converted between its versions", async () => {
    const old = "/apis/shop.example/v1alpha1/namespaces/default/widgets";
    const created = await send("POST", old, widget({ color: "red" }, "v1alpha1"));
    assert.equal(created.status, 201);
    assert.deepEqual(created.body.spec, { color: "red" });
    assert.match(created.warning ?? "", /v1alpha1 Widget is deprecated; use shop.example\/v1 Widget/);
    assert.deepEqual((await send("GET", `${PATH}/w`)).body.spec, { colour: "red", size: 3 });
    const painted = await send("PATCH", `${old}/w`, { spec: { color: "blue" } }, "application/merge-patch+json");
    assert.match(painted.body.message, /spec.colour: Invalid value: "blue": paint does not come off/);
  });

  test("is loaded from the modules of --kinds", async () => {
    await assert.rejects(
      loadKinds([import.meta.filename.replace("define-kind.test", "schema-types")]),
      /exports no kind/,
    );
  });
});
