import assert from "node:assert/strict";
import { loadavg } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { startOracle } from "../test/support/oracle.ts";

/**
 * The same suite of 200 tests, each of which needs 20 objects to begin with: with one server for all of them, which is the tests' own time, and with one for
 * each: a fork, a new control plane, a new server in this process, and etcd with kube-apiserver, what envtest starts. Of those a few are started, and the rest is
 * reckoned. The ways take turns. Needs `npm run build`; `SUITE_TESTS` and `SUITE_REAL_TESTS` set how many.
 */
const TESTS = Number(process.env.SUITE_TESTS ?? 200);
const REAL_TESTS = Number(process.env.SUITE_REAL_TESTS ?? 4);
const ROUNDS = 4;

const dist = (file: string): string => pathToFileURL(path.join(import.meta.dirname, "..", "dist", file)).href;
const { startControlPlane } = (await import(dist("testing.js"))) as typeof import("../src/testing.ts");
const { startServer } = (await import(dist("index.js"))) as typeof import("../src/index.ts");

const namespace = "default";
const FIXTURES = Array.from({ length: 20 }, (_, index) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `fixture-${index}` },
  data: { number: String(index) },
}));

/** A server, and how it is ended after a test. */
interface Place {
  readonly url: string;
  readonly token: string;
  close(): Promise<unknown>;
}

function clientOf({ url, token }: Place): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "c", server: url, skipTLSVerify: true }],
    users: [{ name: "u", token }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  return config.makeApiClient(CoreV1Api);
}

/** With the objects that every test needs, made by requests. */
async function filled(place: Place): Promise<Place> {
  const core = clientOf(place);
  for (const body of FIXTURES) await core.createNamespacedConfigMap({ namespace, body });
  return place;
}

/** What every test does, by Kubernetes' client over a socket: six requests. */
async function test(place: Place, number: number): Promise<void> {
  const core = clientOf(place);
  const name = `settings-${number}`;
  const made = await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name }, data: { colour: "blue" } },
  });
  await core.replaceNamespacedConfigMap({ namespace, name, body: { ...made, data: { colour: "red" } } });
  const stale = core.replaceNamespacedConfigMap({ namespace, name, body: made });
  await assert.rejects(stale, { code: 409 });
  const { items } = await core.listNamespacedConfigMap({ namespace });
  assert.ok(items.length > FIXTURES.length);
  await core.deleteNamespacedConfigMap({ namespace, name });
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name }), { code: 404 });
}

/** A way to give tests their servers, and what it has taken so far. */
class Way {
  readonly name: string;
  readonly #open: () => Promise<Place>;
  #tests = 0;
  #ms = 0;
  #processorMs = 0;

  constructor(name: string, open: () => Promise<Place>) {
    this.name = name;
    this.#open = open;
  }

  async run(tests: number): Promise<void> {
    const began = performance.now();
    const usedBefore = process.cpuUsage();
    for (let test = 0; test < tests; test++) await this.once(test);
    const { user, system } = process.cpuUsage(usedBefore);
    this.#tests += tests;
    this.#ms += performance.now() - began;
    this.#processorMs += (user + system) / 1000;
  }

  async once(number: number): Promise<void> {
    const place = await this.#open();
    try {
      await test(place, number);
    } finally {
      await place.close();
    }
  }

  get msPerTest(): number {
    return this.#ms / this.#tests;
  }

  report(own: Way): void {
    const seconds = (msPerTest: number) => `${((msPerTest * TESTS) / 1000).toFixed(1)} s`;
    const reckoned = this.#tests < TESTS ? ` (of ${this.#tests})` : "";
    const added = this === own ? "" : `${(this.msPerTest - own.msPerTest).toFixed(1)} ms`;
    say(this.name, seconds(this.msPerTest) + reckoned, added, seconds(this.#processorMs / this.#tests));
  }
}

const say = (what: string, ...columns: string[]): void =>
  void process.stdout.write(`${what.padEnd(40)}${columns.map((column) => column.padStart(21)).join("")}\n`);
const load = (): string =>
  loadavg()
    .map((average) => average.toFixed(1))
    .join(" ");

async function startReal(): Promise<Place> {
  const { base, tokens, kill } = await startOracle({ flags: ["--disable-admission-plugins=ServiceAccount"] });
  return filled({ url: base, token: tokens.admin, close: kill });
}

await using shared = await startControlPlane({ manifests: FIXTURES });
const place: Place = { url: shared.url, token: shared.token, close: async () => undefined };
const own = new Way("one control plane for all", async () => place);
const ways = [
  own,
  new Way("a fork each", () => shared.fork()),
  new Way("a new control plane each", () => startControlPlane({ manifests: FIXTURES })),
  new Way("a new server in this process each", async () =>
    filled(await startServer({ log: false, shutdownGraceMs: 0 })),
  ),
];
const real = new Way("kube-apiserver and etcd each", startReal);
process.stdout.write(`load ${load()}\n`);
for (const way of ways) for (let test = 0; test < 5; test++) await way.once(test);
for (let round = 0; round < ROUNDS; round++) for (const way of ways) await way.run(Math.ceil(TESTS / ROUNDS));
await real.run(REAL_TESTS);
say(`${TESTS} tests of six requests each`, "the suite", "added to each test", "this process's time");
for (const way of [...ways, real]) way.report(own);
process.stdout.write(`load ${load()}\n`);
