import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expired } from "../../../base/api/api-error.ts";
import type { Json, KubeObject } from "../../../base/api/object.ts";
import type { ObjectView, TableShape, WatchEvent } from "../../../base/api/reply.ts";
import { bodyOf, testRequest } from "../test-request.suite.ts";
import type { EncodedReply } from "./encoded-reply.ts";
import { encodeReply } from "./reply.ts";

function viewOf(object: KubeObject): ObjectView & { encoded: number } {
  const view = {
    object,
    encoded: 0,
    json: () => {
      view.encoded++;
      return Buffer.from(JSON.stringify(object));
    },
    itemJson: () => Buffer.from(""),
    itemSize: () => 0,
    writeItem: (_target: Uint8Array, at: number) => at,
    encodings: new Map<string, Uint8Array>(),
  };
  return view;
}

const pod = (name: string, resourceVersion = "1"): KubeObject => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name, resourceVersion },
  spec: { nodeName: "n" },
});

const TABLE: TableShape = { columns: [{ name: "Name", type: "string", cell: (object) => object.metadata.name ?? "" }] };

async function* from(
  batches: readonly (readonly WatchEvent[])[],
  error?: Error,
): AsyncGenerator<readonly WatchEvent[]> {
  yield* batches;
  if (error) throw error;
}

function watch(
  batches: AsyncIterable<readonly WatchEvent[]>,
  kind?: string,
  query = "",
  now: () => number = () => 0,
): EncodedReply {
  const accept = kind === undefined ? "application/json" : `application/json;as=${kind};v=v1;g=meta.k8s.io`;
  const context = { warnings: [], auditId: "id", now };
  return encodeReply(testRequest({ accept }, query), { type: "watch", events: batches, table: TABLE }, context);
}

const chunksOf = async (reply: EncodedReply): Promise<Uint8Array[]> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return chunks;
};

const linesOf = async (reply: EncodedReply): Promise<Json[]> => {
  const text = (await bodyOf(reply)).toString();
  assert.ok(text === "" || text.endsWith("\n"));
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

describe("watches", () => {
  it("are JSON lines, one chunk per batch, encoded once for all watchers", async () => {
    const views = [viewOf(pod("a")), viewOf(pod("b"))] as const;
    const batches = [
      [
        { type: "ADDED", view: views[0] },
        { type: "MODIFIED", view: views[1] },
      ],
    ] as const;
    for (let watcher = 0; watcher < 3; watcher++) {
      const reply = watch(from(batches), undefined, "pretty=1");
      assert.equal(reply.headers["content-type"], "application/json");
      assert.ok(reply.isLongRunning);
      const chunks = await chunksOf(reply);
      assert.equal(chunks.length, 1);
      assert.equal(
        Buffer.concat(chunks).toString(),
        `{"type":"ADDED","object":${JSON.stringify(pod("a"))}}\n{"type":"MODIFIED","object":${JSON.stringify(pod("b"))}}\n`,
      );
    }
    assert.deepEqual(
      views.map((view) => view.encoded),
      [1, 1],
    );
  });

  it("split very large batches", async () => {
    const big = viewOf({ ...pod("a"), filler: "x".repeat(100_000) });
    const batch = Array.from({ length: 10 }, () => ({ type: "ADDED", view: big }) as const);
    const chunks = await chunksOf(watch(from([batch])));
    assert.equal(chunks.length, 4);
  });

  it("support PartialObjectMetadata", async () => {
    const events = await linesOf(watch(from([[{ type: "DELETED", view: viewOf(pod("a")) }]]), "PartialObjectMetadata"));
    const object = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: pod("a").metadata };
    assert.deepEqual(events, [{ type: "DELETED", object }]);
  });

  it("with as=PartialObjectMetadataList end at the first event", async () => {
    assert.deepEqual(
      await linesOf(watch(from([[{ type: "ADDED", view: viewOf(pod("a")) }]]), "PartialObjectMetadataList")),
      [],
    );
  });

  it("support tables, with columns in the first event", async () => {
    const marker = pod("", "9");
    marker.metadata.annotations = { "k8s.io/initial-events-end": "true" };
    const batches = [
      [{ type: "ADDED", view: viewOf(pod("a")) }],
      [{ type: "BOOKMARK", view: viewOf(marker) }],
    ] as const;
    const events = (await linesOf(watch(from(batches), "Table", "includeObject=None"))) as {
      type: string;
      object: { columnDefinitions: Json[] | null; rows: { cells: Json; object: KubeObject | null }[] };
    }[];
    assert.equal(events[0]?.object.columnDefinitions?.length, 1);
    assert.equal(events[0]?.object.rows[0]?.object, null);
    assert.equal(events[1]?.object.columnDefinitions, null);
    assert.deepEqual(events[1]?.object.rows[0]?.object?.metadata, marker.metadata);
  });

  it("share tables of the same form for a second", async () => {
    const view = viewOf(pod("a"));
    const batches = [[{ type: "ADDED", view }], [{ type: "ADDED", view }]] as const;
    const tables = async (query: string, nowMs: number) => {
      await chunksOf(watch(from(batches), "Table", query, () => nowMs));
      return [...view.encodings.values()];
    };
    const [first, other, ...more] = await tables("", 1000);
    assert.notEqual(first, other, "with and without columns");
    assert.deepEqual(more, []);
    assert.deepEqual(
      (await tables("", 1999)).map((table) => [first, other].indexOf(table as Buffer)),
      [0, 1],
    );
    assert.equal((await tables("includeObject=None", 1999)).length, 4);
    const [later, ...rest] = await tables("", 2000);
    assert.notEqual(later, first);
    assert.equal(rest.length, 3);
  });

  it("end with an ERROR event that is sent or thrown", async () => {
    const { status } = expired("too old");
    const added = { type: "ADDED", view: viewOf(pod("a")) } as const;
    const sent = await linesOf(watch(from([[added, { type: "ERROR", status }], [added]])));
    const thrown = await linesOf(watch(from([[added]], expired("too old"))));
    assert.deepEqual(sent, thrown);
    assert.deepEqual(sent[1], { type: "ERROR", object: status });
  });

  it("close their source if they are rejected", async () => {
    let isClosed = false;
    async function* source(): AsyncGenerator<readonly WatchEvent[]> {
      try {
        yield [];
      } finally {
        isClosed = true;
      }
    }
    const started = source();
    await started.next();
    const reply = watch(started, "Table", "includeObject=Bad");
    assert.equal(reply.status, 400);
    await new Promise(setImmediate);
    assert.ok(isClosed);
  });
});
