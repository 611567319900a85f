import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { forEachLimited } from "../../src/base/util/for-each-limited.ts";
import { type CostlyRequest, CostServer } from "../cost/server.ts";
import { assertBelow } from "../support/machine-speed.ts";

/** An administrator of one team can create as many. */
const COUNT = 2000;
const GROUPS = 20;
const AT_ONCE = 8;
/** Processor time of the event loop that no request may take at a stretch. */
const MOST_MS = 100;
/** The best of so many counts: a thread that is interrupted uses processor time for that, too. */
const TRIES = 3;

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const groupOf = (at: number) => `g${at % GROUPS}.many.example.com`;

function definition(at: number): Buffer {
  const names = { kind: `Thing${at}`, listKind: `Thing${at}List`, plural: `thing${at}s`, singular: `thing${at}` };
  const spec = { type: "object", properties: { text: { type: "string" }, count: { type: "integer", minimum: 0 } } };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema } };
  return Buffer.from(
    JSON.stringify({
      metadata: { name: `${names.plural}.${groupOf(at)}` },
      spec: { group: groupOf(at), names, scope: "Namespaced", versions: [version] },
    }),
  );
}

const objects = (at: number) => `/apis/${groupOf(at)}/v1/namespaces/fuzz/thing${at}s`;
const object = (at: number, text: string) =>
  Buffer.from(
    JSON.stringify({
      apiVersion: `${groupOf(at)}/v1`,
      kind: `Thing${at}`,
      metadata: { generateName: "a-" },
      spec: { text },
    }),
  );
const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };

suite("with thousands of CustomResourceDefinitions", { timeout: 900_000 }, () => {
  let server: CostServer;
  let further = COUNT;

  before(async () => {
    server = await CostServer.start(120_000);
    const numbers = Array.from({ length: COUNT }, (_, at) => at);
    await forEachLimited(numbers, AT_ONCE, async (at) => {
      const { status, text } = await server.send({ method: "POST", path: DEFINITIONS, body: definition(at) });
      assert.equal(status, 201, text);
    });
  });
  after(() => server?.stop());

  const requests: Readonly<Record<string, () => CostlyRequest & { readonly code?: number }>> = {
    "discovery of all groups": () => ({ method: "GET", path: "/apis", headers: aggregated }),
    "discovery of one group": () => ({ method: "GET", path: `/apis/${groupOf(0)}/v1` }),
    "the index of OpenAPI v3": () => ({ method: "GET", path: "/openapi/v3" }),
    "OpenAPI v3 of one group": () => ({ method: "GET", path: `/openapi/v3/apis/${groupOf(0)}/v1` }),
    "OpenAPI v2": () => ({ method: "GET", path: "/openapi/v2" }),
    "a further definition": () => ({ method: "POST", path: DEFINITIONS, body: definition(further++), code: 201 }),
    "a small object": () => ({ method: "POST", path: objects(7), body: object(7, "a"), code: 201 }),
    "a large object": () => ({ method: "POST", path: objects(7), body: object(7, "a".repeat(100_000)), code: 201 }),
    "a table": () => ({ method: "GET", path: objects(7), headers: table }),
    "all definitions as a table": () => ({ method: "GET", path: DEFINITIONS, headers: table }),
  };

  for (const [name, make] of Object.entries(requests)) {
    test(`${name} does not hold the event loop`, async (t) => {
      let heldMs = Number.POSITIVE_INFINITY;
      for (let turn = 0; turn < TRIES && heldMs > MOST_MS; turn += 1) {
        const { code = 200, ...request } = make();
        const cost = await server.measure(request, true);
        assert.equal(cost.status, code, cost.text.slice(0, 300));
        heldMs = Math.min(heldMs, cost.loopMs);
      }
      t.diagnostic(`${heldMs.toFixed(1)} ms`);
      assertBelow(heldMs, MOST_MS, "the event loop was held");
    });
  }
});
