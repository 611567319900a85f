import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import { badRequest, notFound, tooManyRequests } from "../../../base/api/api-error.ts";
import type { Json, KubeObject } from "../../../base/api/object.ts";
import type { ApiReply, ObjectView, TableShape } from "../../../base/api/reply.ts";
import { bodyOf, testRequest } from "../test-request.suite.ts";
import { decodeYaml } from "../yaml/yaml.ts";
import type { EncodedReply } from "./encoded-reply.ts";
import { encodeError, encodeReply, type ReplyContext } from "./reply.ts";

const CONTEXT: ReplyContext = { warnings: [], auditId: "the-id", now: () => 0 };

function viewOf(object: KubeObject): ObjectView {
  const { kind: _kind, apiVersion: _version, ...item } = object;
  return {
    object,
    json: () => Buffer.from(JSON.stringify(object)),
    itemJson: () => Buffer.from(JSON.stringify(item)),
    itemSize: () => Buffer.byteLength(JSON.stringify(item)),
    writeItem: (target, at) => {
      const bytes = Buffer.from(JSON.stringify(item));
      if (bytes.length > target.length - at) return -1;
      target.set(bytes, at);
      return at + bytes.length;
    },
    encodings: new Map(),
  };
}

const configMap = (name: string, data: Record<string, string> = {}): KubeObject => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name, resourceVersion: "5", labels: { brace: '}"{' } },
  data,
});

const TABLE: TableShape = {
  columns: [
    { name: "Name", type: "string", format: "name", cell: (object) => object.metadata.name ?? "" },
    { name: "Data", type: "integer", cell: (object) => Object.keys(object.data ?? {}).length },
  ],
};

const one: ApiReply = { type: "object", code: 201, view: viewOf(configMap("one", { a: "1" })), table: TABLE };
const listOf = (names: readonly string[], size = 1): ApiReply => ({
  type: "list",
  kind: "ConfigMapList",
  apiVersion: "v1",
  metadata: { resourceVersion: "9" },
  items: names.map((name) => viewOf(configMap(name, { a: "x".repeat(size) }))),
  table: TABLE,
});

const as = (kind: string): Record<string, string> => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
const encode = (reply: ApiReply, headers: Record<string, string> = {}, query = ""): EncodedReply =>
  encodeReply(testRequest(headers, query), reply, CONTEXT);
const textOf = async (reply: EncodedReply): Promise<string> => (await bodyOf(reply)).toString();
const jsonOf = async (reply: EncodedReply): Promise<Json> => JSON.parse(await textOf(reply));

describe("encodeReply, one object", () => {
  it("sends the bytes of the view with a line feed", async () => {
    const reply = encode(one);
    assert.equal(reply.status, 201);
    assert.deepEqual(reply.headers, {
      "content-type": "application/json",
      "audit-id": "the-id",
      "cache-control": "no-cache, private",
    });
    assert.equal(await textOf(reply), `${JSON.stringify(configMap("one", { a: "1" }))}\n`);
  });

  it("supports indented JSON and YAML", async () => {
    assert.equal(await textOf(encode(one, {}, "pretty=1")), JSON.stringify(configMap("one", { a: "1" }), null, 2));
    const yaml = encode(one, { accept: "application/yaml" });
    assert.equal(yaml.headers["content-type"], "application/yaml");
    assert.deepEqual(decodeYaml(await bodyOf(yaml)).value, configMap("one", { a: "1" }));
  });

  it("supports PartialObjectMetadata", async () => {
    const { metadata } = configMap("one");
    const expected = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
    assert.deepEqual(await jsonOf(encode(one, as("PartialObjectMetadata"))), expected);
  });

  it("supports Table with includeObject", async () => {
    const table = (await jsonOf(encode(one, as("Table")))) as {
      rows: { cells: Json; object: KubeObject }[];
      metadata: Json;
    };
    assert.deepEqual(table.metadata, { resourceVersion: "5" });
    assert.deepEqual(table.rows[0]?.cells, ["one", 1]);
    assert.equal(table.rows[0]?.object.kind, "PartialObjectMetadata");
    const bare = (await jsonOf(encode(one, as("Table"), "includeObject=None"))) as { rows: { object: Json }[] };
    assert.equal(bare.rows[0]?.object, null);
  });

  it("rejects unsupported transforms", async () => {
    const refusal = async (reply: EncodedReply): Promise<string> => {
      const status = (await jsonOf(reply)) as { code: number; message: string };
      assert.equal(status.code, reply.status);
      return `${status.code} ${status.message}`;
    };
    assert.equal(
      await refusal(encode(one, as("PartialObjectMetadataList"))),
      "406 you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
    );
    assert.equal(
      await refusal(encode(listOf(["a"]), as("PartialObjectMetadata"))),
      "406 you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
    );
    assert.match(
      await refusal(encode(one, as("Table"), "includeObject=Bad")),
      /^400 Unable to convert to Table as requested/,
    );
    assert.match(await refusal(encode({ ...one, table: undefined }, as("Table"))), /^406 only the following/);
    assert.match(await refusal(encode(one, { accept: "text/html" })), /^406 406: Not Acceptable/);
  });
});

describe("encodeReply, lists", () => {
  it("encodes small lists as one buffer, with items without kind", async () => {
    const reply = encode(listOf(["a", "b"]));
    assert.ok(reply.body instanceof Uint8Array);
    const text = await textOf(reply);
    assert.ok(
      text.startsWith(
        '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metadata"',
      ),
    );
    assert.ok(text.endsWith("]}\n"));
    assert.equal((JSON.parse(text) as { items: Json[] }).items.length, 2);
  });

  it("encodes empty lists as [], and empty metadata lists as null", async () => {
    assert.match(await textOf(encode(listOf([]))), /"items":\[\]\}\n$/);
    assert.match(await textOf(encode(listOf([]), as("Table"))), /"rows":\[\]\}\n$/);
    assert.match(await textOf(encode(listOf([]), as("PartialObjectMetadataList"))), /"items":null\}\n$/);
  });

  it("streams large lists in chunks with the same text", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const reply = encode(listOf(names, 20_000));
    assert.ok(!(reply.body instanceof Uint8Array) && typeof reply.body !== "string");
    const sizes: number[] = [];
    const chunks: Uint8Array[] = [];
    for await (const chunk of reply.body) {
      sizes.push(chunk.length);
      chunks.push(chunk);
    }
    assert.ok(sizes.length > 10 && Math.max(...sizes.slice(1)) < 300 * 1024);
    const items = (JSON.parse(Buffer.concat(chunks).toString()) as { items: KubeObject[] }).items;
    assert.deepEqual(
      items.map((item) => item.metadata.name),
      names,
    );
  });

  it("produces the same as printing the whole value in every form", async () => {
    for (const count of [0, 1, 3]) {
      const reply = listOf(Array.from({ length: count }, (_, index) => `n${index}`));
      for (const headers of [{}, as("Table"), as("PartialObjectMetadataList")]) {
        const compact = await jsonOf(encode(reply, headers));
        assert.equal(await textOf(encode(reply, headers, "pretty=true")), JSON.stringify(compact, null, 2));
        const accept = `${(headers as { accept?: string }).accept ?? "application/json"}`.replace("json", "yaml");
        assert.deepEqual(decodeYaml(await bodyOf(encode(reply, { accept }))).value, compact);
      }
    }
  });

  it("sorts tables in the order of their kind", async () => {
    const table = {
      ...TABLE,
      compare: (a: KubeObject, b: KubeObject) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? 1 : -1),
    };
    const reply = { ...listOf(["a", "b"]), table } as ApiReply;
    const { rows } = (await jsonOf(encode(reply, as("Table")))) as { rows: { cells: Json[] }[] };
    assert.deepEqual(
      rows.map((row) => row.cells[0]),
      ["b", "a"],
    );
  });

  it("compresses large bodies if the client accepts gzip", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    for (const reply of [
      listOf(names, 2000),
      { type: "object", code: 200, view: viewOf(configMap("big", { a: "x".repeat(200_000) })) } as const,
    ]) {
      const packed = encode(reply, { "accept-encoding": "deflate, gzip" });
      assert.equal(packed.headers["content-encoding"], "gzip");
      assert.equal(packed.headers.vary, "Accept-Encoding");
      assert.deepEqual(gunzipSync(await bodyOf(packed)), await bodyOf(encode(reply)));
      assert.equal(encode(reply, { "accept-encoding": "gzip;q=1" }).headers["content-encoding"], undefined);
    }
    assert.equal(encode(listOf(["a"]), { "accept-encoding": "gzip" }).headers["content-encoding"], undefined);
  });

  it("stops reading the list when a compressed reply is abandoned", async () => {
    let isReturned = false;
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const { body } = encode(listOf(names, 5000), { "accept-encoding": "gzip" });
    assert.ok(typeof body !== "string" && !(body instanceof Uint8Array));
    for await (const _ of body) {
      isReturned = true;
      break;
    }
    assert.ok(isReturned);
  });
});

describe("encodeReply, other replies", () => {
  it("sends a Status unchanged, whatever transform was requested", async () => {
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" } as const;
    const reply = encode({ type: "status", status }, as("Table"));
    assert.equal(reply.status, 200);
    assert.deepEqual(await jsonOf(reply), status);
    assert.equal(encode({ type: "status", status: { ...status, code: 201 } }).status, 201);
  });

  it("includes the headers of documents and raw replies", async () => {
    const document = encode({
      type: "document",
      code: 200,
      value: { a: 1 },
      headers: { "cache-control": "public", etag: "x" },
    });
    assert.deepEqual([document.headers["cache-control"], document.headers.etag], ["public", "x"]);
    assert.equal(await textOf(document), '{"a":1}\n');
    const raw = encode(
      { type: "raw", code: 200, headers: { "content-type": "text/plain" }, body: "ok" },
      { accept: "image/png" },
    );
    assert.deepEqual([raw.status, raw.body, raw.headers["content-type"]], [200, "ok", "text/plain"]);
  });

  it("includes warnings", () => {
    const reply = encodeReply(testRequest(), one, { ...CONTEXT, warnings: ["a", "b", "a"] });
    assert.deepEqual(reply.headers.warning, ['299 - "a"', '299 - "b"']);
  });
});

describe("encodeError", () => {
  const encodeFor = (
    headers: Record<string, string>,
    error = notFound({ group: "", resource: "pods" }, "x"),
  ): EncodedReply => encodeError(testRequest(headers), error, { ...CONTEXT, warnings: ["w"] });

  it("negotiates like a reply without transforms", async () => {
    const plain = encodeFor({});
    assert.equal(plain.status, 404);
    assert.deepEqual(plain.headers.warning, ['299 - "w"']);
    assert.equal(
      await textOf(plain),
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \\"x\\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404}\n',
    );
    assert.equal(encodeFor({ accept: "application/yaml" }).headers["content-type"], "application/yaml");
    assert.match(await textOf(encodeFor({ accept: `${as("Table").accept},application/json` })), /^\{"kind"/);
  });

  it("is indented JSON if no accepted type is offered", async () => {
    for (const accept of ["text/html", as("Table").accept ?? "", "application/vnd.kubernetes.protobuf"]) {
      const reply = encodeFor({ accept });
      assert.deepEqual([reply.status, reply.headers["content-type"]], [404, "application/json"]);
      assert.match(await textOf(reply), /^\{\n {2}"kind": "Status",\n[\s\S]*\n\}$/);
    }
  });

  it("includes Retry-After", () => {
    assert.equal(encodeFor({}, tooManyRequests("busy", 7)).headers["retry-after"], "7");
    assert.equal(encodeFor({}, badRequest("no")).headers["retry-after"], undefined);
  });
});
