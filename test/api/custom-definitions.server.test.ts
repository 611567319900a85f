import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type Server, startServer } from "../../src/programs/server/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "stable.example.com";

const JSON_PATCH = { "content-type": "application/json-patch+json" };
const STORE_V2 = [
  { op: "replace", path: "/spec/versions/0/storage", value: false },
  { op: "replace", path: "/spec/versions/1/storage", value: true },
];

/** A webhook over TLS that moves `spec.size` of v1 to `spec.count` of v2 and back. */
async function startWebhook() {
  const authority = makeCa("webhooks", Date.now());
  const subject = { commonName: "localhost", hosts: ["localhost", "127.0.0.1"] };
  const { certificate, key } = makeIdentity(authority, subject, "server", Date.now());
  const asked: number[] = [];
  let failure: string | undefined;
  const server = createServer({ cert: certificate, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { request: review, kind, apiVersion } = JSON.parse(Buffer.concat(chunks).toString());
    asked.push(review.objects.length);
    const isV2 = review.desiredAPIVersion.endsWith("/v2");
    const convertedObjects = review.objects.map((one: KubeObject) => {
      const { size, count } = one.spec as JsonObject;
      const spec = isV2 ? { count: size ?? count } : { size: count ?? size };
      return { ...one, apiVersion: review.desiredAPIVersion, spec };
    });
    const result = failure === undefined ? { status: "Success" } : { status: "Failure", message: failure };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ kind, apiVersion, response: { uid: review.uid, convertedObjects, result } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/convert`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    asked,
    fail: (text: string | undefined) => {
      failure = text;
    },
    close: () => server.close(),
  };
}

suite("kinds that CustomResourceDefinitions define", () => {
  let folder: string;
  let server: Server;
  let client: Client;
  let webhook: Awaited<ReturnType<typeof startWebhook>>;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-definitions-"));
    const own = { certDir: folder, securePort: 0, controllers: "none", shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
    client = clientFor(server.url, server.token);
    webhook = await startWebhook();
  });
  after(async () => {
    await server.close();
    webhook.close();
    await rm(folder, { recursive: true });
  });

  const version = (name: string, member: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    selectableFields: [{ jsonPath: `.spec.${member}` }],
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: { spec: { type: "object", properties: { [member]: { type: "integer", maximum: 100 } } } },
      },
    },
  });

  async function define(plural: string, kind: string, more: JsonObject = {}): Promise<void> {
    const spec = {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [version("v1", "size", true), version("v2", "count", false)],
      ...more,
    };
    const created = await client.call("POST", CRDS, { metadata: { name: `${plural}.${GROUP}` }, spec });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await eventually(async () => {
      const { body } = await client.call("GET", `${CRDS}/${plural}.${GROUP}`);
      const established = body.status.conditions?.find((one: JsonObject) => one.type === "Established");
      return established?.status === "True";
    });
  }

  const at = (plural: string, name = "v1") => `/apis/${GROUP}/${name}/namespaces/default/${plural}`;
  const object = (kind: string, name: string, spec: JsonObject, apiVersion = `${GROUP}/v1`) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec,
  });

  test("an established kind is served at once, and in discovery and OpenAPI soon after it was defined", async () => {
    await define("gears", "Gear");
    assert.equal((await client.call("POST", at("gears"), object("Gear", "one", { size: 3 }))).status, 201);
    await eventually(async () => {
      const resources = await client.call("GET", `/apis/${GROUP}/v1`);
      const v3 = await client.call("GET", `/openapi/v3/apis/${GROUP}/v1`);
      const v2 = await client.call("GET", "/openapi/v2");
      return (
        resources.body.resources?.[0]?.name === "gears" &&
        v3.body.components?.schemas["com.example.stable.v1.Gear"].properties.spec.properties.size !== undefined &&
        v2.body.definitions["com.example.stable.v1.Gear"] !== undefined
      );
    });
    const { body: published } = await client.call("GET", `/openapi/v3/apis/${GROUP}/v2`);
    for (const name of ["Gear", "GearList"]) {
      const shape = published.components.schemas[`com.example.stable.v2.${name}`];
      assert.deepEqual(shape["x-kubernetes-selectable-fields"], [{ fieldPath: "spec.count" }]);
    }
    await client.call("DELETE", `${CRDS}/gears.${GROUP}`);
    await eventually(async () => (await client.call("GET", `${CRDS}/gears.${GROUP}`)).status === 404);
    const { body } = await client.call("GET", "/openapi/v2");
    assert.equal(body.definitions["com.example.stable.v1.Gear"], undefined);
  });

  test("a conversion webhook converts reads, lists, writes and watches; its failure is a 500 that names it", async () => {
    const { url, caBundle } = webhook;
    const conversion = {
      strategy: "Webhook",
      webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ["v1"] },
    };
    await define("levers", "Lever", { conversion });
    for (const name of ["one", "two"]) {
      const created = await client.call("POST", at("levers"), object("Lever", name, { size: 3 }));
      assert.equal(created.status, 201, JSON.stringify(created.body));
    }
    assert.deepEqual(webhook.asked, []);
    const { body } = await client.call("GET", `${at("levers", "v2")}/one`);
    assert.deepEqual([body.apiVersion, body.spec], [`${GROUP}/v2`, { count: 3 }]);
    webhook.asked.length = 0;
    const list = await client.call("GET", at("levers", "v2"));
    assert.deepEqual(
      list.body.items.map(({ spec }: KubeObject) => spec),
      [{ count: 3 }, { count: 3 }],
    );
    assert.ok(webhook.asked.reduce((sum, count) => sum + count, 0) <= 2);
    const three = object("Lever", "three", { count: 7 }, `${GROUP}/v2`);
    assert.equal((await client.call("POST", at("levers", "v2"), three)).status, 201);
    assert.deepEqual((await client.call("GET", `${at("levers")}/three`)).body.spec, { size: 7 });
    webhook.fail("out of order");
    const refused = await client.call("POST", at("levers", "v2"), { ...three, metadata: { name: "four" } });
    assert.equal(refused.status, 500);
    assert.match(
      refused.body.message,
      /conversion webhook for stable\.example\.com\/v[12], Kind=Lever failed: out of order/,
    );
    assert.equal((await client.call("GET", `${at("levers")}/three`)).status, 200);
    webhook.fail(undefined);
  });

  test("a definition that cannot delete its objects reports why, and is deleted when it can", async () => {
    const { url, caBundle } = webhook;
    const clientConfig = { url, caBundle };
    const webhookConversion = {
      strategy: "Webhook",
      webhook: { clientConfig, conversionReviewVersions: ["v1"] },
    };
    await define("pistons", "Piston", { conversion: webhookConversion });
    assert.equal((await client.call("POST", at("pistons"), object("Piston", "one", { size: 3 }))).status, 201);
    const path = `${CRDS}/pistons.${GROUP}`;
    const moved = await client.call("PATCH", path, STORE_V2, JSON_PATCH);
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    webhook.fail("out of order");
    await client.call("DELETE", path);
    const failed = await eventually(async () => {
      const { body } = await client.call("GET", path);
      const terminating = body.status.conditions.find((one: JsonObject) => one.type === "Terminating");
      return terminating?.reason === "InstanceDeletionFailed" && terminating;
    });
    assert.equal(failed.status, "True");
    assert.match(failed.message, /^could not list instances: conversion webhook for .* failed: out of order$/);
    webhook.fail(undefined);
    await eventually(async () => (await client.call("GET", path)).status === 404);
  });

  test("deleting a definition without served versions deletes its objects", async () => {
    await define("rods", "Rod");
    assert.equal((await client.call("POST", at("rods"), object("Rod", "one", { size: 3 }))).status, 201);
    const path = `${CRDS}/rods.${GROUP}`;
    const serveNone = [0, 1].map((index) => ({ op: "replace", path: `/spec/versions/${index}/served`, value: false }));
    assert.equal((await client.call("PATCH", path, serveNone, JSON_PATCH)).status, 200);
    await client.call("DELETE", path);
    await eventually(async () => (await client.call("GET", path)).status === 404);
    await define("rods", "Rod");
    assert.deepEqual((await client.call("GET", at("rods"))).body.items, []);
  });
});
