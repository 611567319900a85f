import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ApiError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { systemRandom } from "../../base/util/random.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { IsLargeCall } from "./in-process.ts";
import { LoopbackClient } from "./loopback-client.ts";
import { TooLarge } from "./read-body.ts";

const RESOURCE = {
  definition: { group: "", kind: "Thing", plural: "things", scope: "Namespaced" },
  version: { name: "v1" },
  apiVersion: "v1",
} as ServedResource;
const thing: KubeObject = { kind: "Thing", apiVersion: "v1", metadata: { name: "a", namespace: "default" } };
const IDENTITY = { user: { name: "controller", uid: "", groups: [], extra: {} }, userAgent: "tests" };

const encoded = (code: number, value: unknown): ApiReply => ({
  type: "encoded",
  code,
  headers: {},
  body: Buffer.from(JSON.stringify(value)),
});
const clientOf = (handler: (call: Call) => Promise<ApiReply>, isLarge?: IsLargeCall) =>
  new LoopbackClient(handler, IDENTITY, systemRandom, isLarge);
const hasCode = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;

suite("loopback client", () => {
  test("returns the object that another thread has written", async () => {
    const written = { ...thing, metadata: { ...thing.metadata, resourceVersion: "7" } };
    const client = clientOf(async () => encoded(200, written));
    assert.deepEqual(await client.update(RESOURCE, thing), written);
  });

  test("throws the rejection of another thread, also for a deletion", async () => {
    const client = clientOf(async () => encoded(409, { kind: "Status", reason: "Conflict", message: "changed" }));
    await assert.rejects(client.update(RESOURCE, thing), hasCode(409));
    await assert.rejects(client.delete(RESOURCE, { namespace: "default", name: "a" }), hasCode(409));
  });

  test("throws if no thread has room", async () => {
    const client = clientOf(async () => ({ type: "raw", code: 429, headers: {}, body: "later" }));
    await assert.rejects(client.update(RESOURCE, thing), hasCode(429));
  });

  test("reads responses of extension servers, which are streams", async () => {
    const streamed = (code: number, ...chunks: string[]): ApiReply => ({
      ...{ type: "encoded", code, headers: {} },
      body: (async function* () {
        for (const chunk of chunks) yield Buffer.from(chunk);
      })(),
    });
    const path = "/apis/metrics.k8s.io/v1beta1/pods";
    assert.deepEqual(await clientOf(async () => streamed(200, '{"items"', ":[]}")).read(path), { items: [] });
    await assert.rejects(clientOf(async () => streamed(503, "starting")).read(path), hasCode(503));
    await assert.rejects(clientOf(async () => streamed(200, "no JSON")).read(path), hasCode(500));
  });

  test("sends subresources of another kind unchanged", async () => {
    const scale = { ...thing, kind: "Scale", apiVersion: "autoscaling/v1" };
    const kind = { group: "autoscaling", version: "v1", kind: "Scale" };
    const resource = { ...RESOURCE, subresources: { scale: { kind }, status: {} } } as unknown as ServedResource;
    const client = clientOf(async (call) => encoded(200, (await call.body()).value));
    assert.equal((await client.update(resource, scale, { subresource: "scale" })).kind, "Scale");
    assert.equal((await client.update(resource, scale, { subresource: "status" })).kind, "Thing");
  });

  test("a large call cannot read its body on the main thread", async () => {
    const handler = async (call: Call) => encoded(200, (await call.body()).value);
    await clientOf(handler, () => false).update(RESOURCE, thing);
    await assert.rejects(clientOf(handler, () => true).update(RESOURCE, thing), (error) => error instanceof TooLarge);
  });
});
