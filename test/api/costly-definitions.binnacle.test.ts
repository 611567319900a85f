import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type CostlyRequest, CostServer } from "../cost/server.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { eventually } from "../support/time.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MOST_MS = 100;
const MERGE = { "content-type": "application/merge-patch+json" };
const OPENAPI = (version: number) => ({
  accept: `application/com.github.proto-openapi.spec.v${version}@v1.0+protobuf`,
});

type Content = Readonly<Record<string, unknown>>;

const record = <T>(count: number, value: (index: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value(at)]));
const object = (properties: Content): Content => ({ type: "object", properties });
const TEXT = { type: "string" };

/**
 * Schemas of versions, up to the limit of 1.5 MB per object. Those that cost most have half of that, so that a busy machine does
 * not decide.
 */
const SCHEMAS: Readonly<
  Record<string, { readonly root: Content; readonly versions?: number; readonly more?: Content }>
> = {
  "25,000 properties": { root: object({ spec: object(record(25_000, () => TEXT)) }) },
  "6,000 nested objects": { root: object({ spec: object(record(6000, () => object({ a: object({ b: TEXT }) }))) }) },
  "20 versions of 500 properties": { root: object({ spec: object(record(500, () => TEXT)) }), versions: 20 },
  "an enum of 100,000 values": {
    root: object({ spec: { ...TEXT, enum: Object.keys(record(100_000, () => 0)) } }),
  },
  "20,000 defaults": { root: object({ spec: object(record(20_000, () => ({ ...TEXT, default: "x" }))) }) },
  "3,000 patterns": {
    root: object({ spec: object(record(3000, (at) => ({ ...TEXT, pattern: `^[a-z]{1,${1 + (at % 60)}}$` }))) }),
  },
  "10,000 alternatives to 10,000 properties": {
    root: { ...object(record(10_000, () => TEXT)), anyOf: Array.from({ length: 10_000 }, () => ({})) },
  },
  "3,000 columns": {
    root: object({ spec: TEXT }),
    more: {
      additionalPrinterColumns: Object.keys(record(3000, () => 0)).map((name) => ({
        name,
        ...TEXT,
        jsonPath: ".spec",
      })),
    },
  },
};

suite("large definitions do not hold up the event loop:", { timeout: 1_200_000 }, () => {
  let server: CostServer;

  before(async () => {
    server = await CostServer.start(300_000);
  });
  after(() => server?.stop());

  for (const [index, [name, { root, versions = 1, more }]] of Object.entries(SCHEMAS).entries()) {
    test(name, async (t) => {
      const group = `case${index}.example.com`;
      const names = { plural: "things", kind: "Thing" };
      const version = (at: number) => ({ name: `v${at + 1}`, served: true, storage: at === 0, ...more });
      const spec = {
        ...{ group, scope: "Namespaced", names },
        versions: Array.from({ length: versions }, (_, at) => ({ ...version(at), schema: { openAPIV3Schema: root } })),
      };
      const metadata = { name: `things.${group}` };
      const own = `${DEFINITIONS}/${metadata.name}`;
      const watched = (since: string) =>
        `${DEFINITIONS}?watch=1&resourceVersion=${since}&fieldSelector=metadata.name%3D${metadata.name}`;
      const things = `/apis/${group}/v1/namespaces/default/things`;
      const measure = async (what: string, code: number, sent: Omit<CostlyRequest, "body">, body?: unknown) => {
        const bytes = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
        const { status, loopMs, text } = await server.measure({ ...sent, ...bytes }, true);
        t.diagnostic(`${what}: ${Math.round(loopMs)} ms of the event loop`);
        assert.equal(status, code, text.slice(0, 500));
        assertBelow(loopMs, MOST_MS, `${what} held the event loop`);
      };
      await measure("create", 201, { method: "POST", path: DEFINITIONS }, { metadata, spec });
      await measure("its controllers", 200, { method: "GET", path: watched("0"), until: "InitialNamesAccepted" });
      // The kind is served a moment after its definition says so.
      await eventually(async () => (await server.send({ method: "GET", path: things })).status === 200);
      const kind = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } };
      await measure("a custom object", 201, { method: "POST", path: things }, kind);
      await measure("a list", 200, { method: "GET", path: things });
      await measure(
        "a patch",
        200,
        { method: "PATCH", path: own, headers: MERGE },
        { metadata: { labels: { a: "b" } } },
      );
      for (const path of [`/openapi/v3/apis/${group}/v1`, "/openapi/v2"]) {
        await measure(path, 200, { method: "GET", path });
        const headers = OPENAPI(path.endsWith("v2") ? 2 : 3);
        await measure(`${path} in protobuf`, 200, { method: "GET", path, headers });
      }
      const { text: stored } = await server.send({ method: "GET", path: own });
      const [, since = assert.fail(stored)] = /"resourceVersion":"(\d+)"/.exec(stored) ?? [];
      await measure("its deletion", 200, { method: "DELETE", path: own });
      const gone = { method: "GET", path: watched(since), until: '"type":"DELETED"' };
      await measure("the deletion of its objects", 200, gone);
    });
  }
});
