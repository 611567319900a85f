import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { systemClock } from "../../../../base/util/clock.ts";
import { pod, World } from "../../admission.suite.ts";
import { AdmissionFunctions } from "../../functions/functions-plugin.ts";
import { FUNCTION_LIMITS, type FunctionLimits, ThreadedFunctions } from "./threaded-functions.ts";

const POLICY = `
export const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
export function mutate(request: { name: string; object: any; user: { name: string } }) {
  if (request.name === "loop") for (;;);
  if (request.name === "eat") for (const all: unknown[] = []; ; ) all.push(new Array(100_000).fill(all.length));
  if (request.name === "bug") throw new TypeError("a bug");
  if (request.name === "wait") return new Promise(() => {});
  if (request.name === "exit") process.exit();
  if (request.name === "long") request.object.metadata.annotations = { a: "x".repeat(20_000_000) };
  if (request.name === "dense") request.object.spec = { list: Array(1_000_000).fill(0) };
  if (request.name === "number") return 1;
  if (request.name === "list") return [request.object];
  if (request.name === "bare") return { ...request.object, metadata: "x" };
  if (request.name === "circle") request.object.spec = { object: request.object };
  if (request.name === "function") return () => 1;
  if (request.name === "other") return { ...request.object, kind: "Secret" };
  request.object.metadata.labels = { by: request.user.name };
}
export async function validate(request: { object: any; warn(text: string): void }) {
  request.warn("looked at");
  return request.object.spec.hostNetwork ? "no host network" : undefined;
}
`;

suite("ThreadedFunctions", () => {
  let folder: string;
  const hosts: ThreadedFunctions[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-functions-"));
  });
  after(async () => {
    for (const host of hosts) host.close();
    await rm(folder, { recursive: true, force: true });
  });

  const load = async (text: string, limits?: FunctionLimits) => {
    const file = path.join(folder, `policy-${hosts.length}.ts`);
    await writeFile(file, text);
    const host = await ThreadedFunctions.load(file, systemClock, limits);
    hosts.push(host);
    return host;
  };
  const judge = (host: ThreadedFunctions, name: string, spec: object = {}) => {
    const world = new World();
    const { clock, features, catalog } = world.resources;
    const { plugin } = new AdmissionFunctions([host], { catalog, defaults: { clock, features } });
    return world.judge(plugin, { plural: "pods", object: pod(spec, { name }) });
  };

  test("changes and rejects the writes that the rules match, and warns", async () => {
    const host = await load(POLICY);
    const changed = await judge(host, "a");
    assert.deepEqual(changed.object?.metadata.labels, { by: "alice" });
    assert.deepEqual(changed.warnings, ["looked at"]);
    assert.equal((await judge(host, "a", { hostNetwork: true })).refusal, 'pods "a" is forbidden: no host network');
    const world = new World();
    const { clock, features, catalog } = world.resources;
    const { plugin, concerns } = new AdmissionFunctions([host], { catalog, defaults: { clock, features } });
    const secret = world.request({ plural: "secrets", object: { ...pod(), kind: "Secret" } });
    assert.equal(plugin.handles(secret), false);
    assert.equal(concerns(world.resource("", "pods"), ""), true);
    assert.equal(concerns(world.resource("", "secrets"), ""), false);
  });

  test("runs the example of docs/admission.md", async () => {
    const page = await readFile(path.join(import.meta.dirname, "../../../../../docs/admission.md"), "utf8");
    const shown = page.split("```ts\n")[1]?.split("\n```")[0];
    assert.ok(shown);
    const host = await load(shown);
    const image = (name: string) => ({ containers: [{ name: "c", image: name }] });
    const pinned = await judge(host, "p", image(`nginx@sha256:${"0".repeat(64)}`));
    assert.deepEqual(pinned.object?.metadata.labels, { owner: "alice" });
    assert.equal(pinned.refusal, undefined);
    const { refusal, error } = await judge(host, "p", image("nginx"));
    assert.equal(`${error?.code} ${refusal}`, /A refusal is `([^`]+)`/.exec(page)?.[1]);
  });

  test("reports the file and line of a failed function", async () => {
    const host = await load(POLICY);
    const { error } = await judge(host, "bug");
    assert.equal(error?.code, 500);
    assert.match(
      error?.message ?? "",
      /admission function of policy-\d+\.ts failed: mutate: TypeError: a bug \(line 6\)$/,
    );
  });

  test("fails calls that take too long, and repeats the other pending ones", async () => {
    const host = await load(POLICY, { ...FUNCTION_LIMITS, timeoutMs: 1500 });
    const [hanging, beside] = await Promise.all([judge(host, "loop"), judge(host, "b")]);
    assert.match(hanging.error?.message ?? "", /mutate: took longer than 1500 ms$/);
    assert.deepEqual(beside.object?.metadata.labels, { by: "alice" });
  });

  test("fails calls whose promise is never settled, and repeats the other pending ones", async () => {
    const host = await load(POLICY, { ...FUNCTION_LIMITS, timeoutMs: 1500 });
    const [hanging, beside] = await Promise.all([judge(host, "wait"), judge(host, "b")]);
    assert.match(hanging.error?.message ?? "", /mutate: took longer than 1500 ms$/);
    assert.deepEqual(beside.object?.metadata.labels, { by: "alice" });
  });

  test("fails calls that exit, again and again, and runs later ones", async () => {
    const host = await load(POLICY);
    for (let turn = 0; turn < 2; turn++) {
      assert.match((await judge(host, "exit")).error?.message ?? "", /mutate: the thread exited$/);
      assert.deepEqual((await judge(host, "b")).object?.metadata.labels, { by: "alice" });
    }
  });

  for (const [name, message] of Object.entries({
    long: /mutate: Error: returned 2\d{7} bytes, the limit is 3145728/,
    dense: /mutate: Error: returned more than 350000 values/,
    number: /mutate: Error: returned something other than an object/,
    list: /mutate: Error: returned something other than an object/,
    bare: /mutate: Error: returned something other than an object/,
    function: /mutate: Error: returned something other than an object/,
    circle: /mutate: TypeError: Converting circular structure to JSON/,
    other: /mutate returned an object of another kind/,
  })) {
    test(`fails calls with a result that is not usable: ${name}`, async () => {
      const { error } = await judge(await load(POLICY), name);
      assert.equal(error?.code, 500);
      assert.match(error?.message ?? "", message);
    });
  }

  test("cuts warnings and refusals that are too long", async () => {
    const text = `export function validate(request: any) {
      for (let at = 0; at < 100_000; at++) request.warn("x".repeat(100));
      return "y".repeat(10_000_000);
    }`;
    const { warnings, refusal } = await judge(await load(text), "a");
    assert.equal(warnings.length, 655);
    assert.ok((refusal ?? "").length < 66_000);
  });

  test("fails calls that exceed the memory limit, and starts a new thread", async () => {
    const host = await load(POLICY, { timeoutMs: 60_000, memoryBytes: 64 * 1024 * 1024 });
    assert.match((await judge(host, "eat")).error?.message ?? "", /mutate: exceeded the memory limit$/);
    assert.deepEqual((await judge(host, "b")).object?.metadata.labels, { by: "alice" });
  });

  test("rejects files that cannot be loaded", async () => {
    await assert.rejects(load("export const nothing = 1;"), /policy-\d+\.ts: exports neither mutate nor validate$/);
    await assert.rejects(load("throw new Error('at the start');"), /Error: at the start \(line 1\)$/);
    await assert.rejects(load("export function mutate( {"), /admission .*policy-\d+\.ts: /);
  });
});
