import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { heldMs, MOST_HELD_MS, printCost } from "./results.ts";
import { type CostlyRequest, CostServer } from "./server.ts";
import { SetFuzzer } from "./sets/fuzzer.ts";
import { RunState } from "./state.ts";

const TIMEOUT_MS = 300_000;
/** They take at most 100 ms where nothing else runs. */
const MOST_RANDOM_MS = 500;
/** The least counts: a thread that is interrupted uses processor time for that, too. */
const TRIES = 5;
const GROUP = "attacks.example.com";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLICIES = "/apis/admissionregistration.k8s.io/v1";
const OBJECTS = `/apis/${GROUP}/v1/namespaces/fuzz/things`;
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const column = (_: unknown, index: number) => ({ name: `c${index}`, type: "string", jsonPath: ".spec.free" });

/** A pattern whose automaton has a state for every text of thirty characters, and patterns that are long when written out. */
const STATES = "^(.*a.{30}){1,3}[cd]$";
const counted = (index: number) => ({ pattern: `^(a{0,${index + 1}}){0,300}[b-z]{1,900}$` });

const definition = {
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, additionalPrinterColumns: Array.from({ length: 60 }, column) },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  free,
                  pattern: { type: "string", pattern: STATES },
                  defaulted: {
                    type: "array",
                    items: {
                      type: "object",
                      properties: { d: { type: "array", items: free, default: many(50, () => ({})) } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};
const objectOf = (name: string, spec: object) => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
});

const policy = {
  metadata: { name: "things" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [GROUP], apiVersions: ["*"], operations: ["DELETE"], resources: ["things"] }],
    },
    validations: many(5, (index) => ({
      expression: `oldObject.spec.free.a.all(a, oldObject.spec.free.a.all(b, a == b || ${index} == ${index}))`,
    })),
  },
};

const patch = (type: string, value: unknown): CostlyRequest => ({
  method: "PATCH",
  path: `${OBJECTS}/dense?dryRun=All`,
  headers: { "content-type": `application/${type}-patch+json` },
  body: json(value),
});

let seed = 1;
/** Random, so that the automaton gets as many states as possible. */
const letters = (count: number) =>
  many(count, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % 65_536 < 32_768 ? "a" : "b";
  }).join("");

const create = (spec: object): CostlyRequest => ({
  method: "POST",
  path: `${OBJECTS}?dryRun=All`,
  body: json(objectOf("new", spec)),
});

interface Attack {
  request(): CostlyRequest;
  /** Whether another thread must carry it out. */
  readonly isMoved: boolean;
}

const write = (request: () => CostlyRequest): Attack => ({ request, isMoved: true });
const other = (request: () => CostlyRequest): Attack => ({ request, isMoved: false });

/** What once blocked the event loop. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  "a small patch of an object with many values": write(() => patch("merge", { metadata: { labels: { a: "b" } } })),
  "a JSON patch whose copies double a value": write(() =>
    patch(
      "json",
      many(10, (index) => ({ op: "copy", from: "/spec/free/a", path: `/spec/free/c${index}` })),
    ),
  ),
  "a text for a pattern with many states": write(() => create({ pattern: letters(20_000) })),
  "an object that gets many defaults": write(() => create({ defaulted: many(1000, () => ({})) })),
  "the deletion of a collection with an expensive policy": write(() => ({
    method: "DELETE",
    path: `${OBJECTS}?dryRun=All`,
  })),
  "a watch whose cells print whole objects": other(() => ({
    method: "GET",
    path: `${OBJECTS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    headers: TABLE,
    until: "initial-events-end",
  })),
  "a list whose cells print whole objects": other(() => ({ method: "GET", path: OBJECTS, headers: TABLE })),
  "a definition with patterns that are long when written out": other(() => {
    const schema = {
      openAPIV3Schema: { type: "object", properties: { spec: { type: "string", anyOf: many(40, counted) } } },
    };
    const { spec } = definition;
    const names = { plural: "others", kind: "Other" };
    const body = {
      metadata: { name: `others.${GROUP}` },
      spec: { ...spec, names, versions: [{ name: "v1", served: true, storage: true, schema }] },
    };
    return { method: "POST", path: `${DEFINITIONS}?dryRun=All`, body: json(body) };
  }),
};

/** How many requests other threads have carried out. */
async function movedRequests({ binnacle }: CostServer): Promise<number> {
  const { body } = await clientFor(binnacle.base, tokens.admin).call("GET", "/metrics");
  return Number(/^binnacle_offloaded_requests_total (\d+)/m.exec(String(body))?.[1]);
}

async function prepared(t: TestContext): Promise<CostServer> {
  const server = await CostServer.start(TIMEOUT_MS);
  t.after(() => server.stop());
  const post = async (path: string, body: unknown) => {
    const { status, text } = await server.send({ method: "POST", path, body: json(body) });
    assert.equal(status, 201, text);
  };
  await post(DEFINITIONS, definition);
  const isServed = async () => (await server.send({ method: "GET", path: OBJECTS })).status === 200;
  await eventually(isServed, { withinMs: TIMEOUT_MS, everyMs: 50 });
  await post(OBJECTS, objectOf("dense", { free: { a: many(15_000, () => ({})) } }));
  for (const name of ["a", "b", "c"])
    await post(OBJECTS, objectOf(name, { free: { a: many(2000, (index) => index) } }));
  await post(`${POLICIES}/validatingadmissionpolicies`, policy);
  const binding = { metadata: { name: "things" }, spec: { policyName: "things", validationActions: ["Audit"] } };
  await post(`${POLICIES}/validatingadmissionpolicybindings`, binding);
  return server;
}

suite("small requests that objects of administrators make expensive", { timeout: 900_000 }, () => {
  test("those that once blocked the event loop do so no more", async (t) => {
    const server = await prepared(t);
    const slow: string[] = [];
    for (const [name, { request, isMoved }] of Object.entries(ATTACKS)) {
      let held = Number.POSITIVE_INFINITY;
      const moved = await movedRequests(server);
      for (let tries = 0; tries < TRIES && held > MOST_HELD_MS; tries += 1) {
        const { status, loopMs, text } = await server.measure(request(), true);
        assert.notEqual(status, 0, `${name}: ${text}`);
        held = Math.min(held, loopMs);
      }
      t.diagnostic(`${name}: ${held.toFixed(1)} ms`);
      if (held > MOST_HELD_MS) slow.push(`${name}: ${held.toFixed(1)} ms`);
      if (isMoved && (await movedRequests(server)) === moved) slow.push(`${name}: on the event loop`);
    }
    assert.deepEqual(slow, []);
  });

  test("random ones do not block the event loop", async (t) => {
    const fuzzer = new SetFuzzer(2, TIMEOUT_MS);
    t.after(() => fuzzer.stop());
    const sets = await fuzzer.run(14, new RunState(), Number.POSITIVE_INFINITY, () => {});
    const results = sets.flatMap((one) => one.results);
    const wrong = results.filter((one) => heldMs(one) > MOST_RANDOM_MS || one.status === 0);
    assert.deepEqual(wrong.map(printCost), []);
  });
});
