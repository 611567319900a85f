import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { pod, World } from "../../../admission/admission.suite.ts";
import { AdmissionFunctions } from "../../../admission/functions/functions-plugin.ts";
import { systemClock } from "../../../lib/clock.ts";
import { FUNCTION_LIMITS, type FunctionLimits, ThreadedFunctions } from "./threaded-functions.ts";

const POLICY = `
export const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
export function mutate(request: { name: string; object: any; user: { name: string } }) {
  if (request.name === "loop") for (;;);
  if (request.name === "eat") for (const all: unknown[] = []; ; ) all.push(new Array(100_000).fill(all.length));
  if (request.name === "bug") throw new TypeError("a bug");
  request.object.metadata.labels = { by: request.user.name };
}
export async function validate(request: { object: any; warn(text: string): void }) {
  request.warn("looked at");
  return request.object.spec.hostNetwork ? "no host network" : undefined;
}
`;

suite("functions of admission", () => {
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

  test("change and refuse the writes that their rules name, and warn", async () => {
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

  test("are what docs/admission.md shows", async () => {
    const page = await readFile(path.join(import.meta.dirname, "../../../../docs/admission.md"), "utf8");
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

  test("that fail are named with their file and line", async () => {
    const host = await load(POLICY);
    const { error } = await judge(host, "bug");
    assert.equal(error?.code, 500);
    assert.match(
      error?.message ?? "",
      /admission function of policy-\d\.ts failed: mutate: TypeError: a bug \(line 6\)$/,
    );
  });

  test("that take too long fail; those beside them are made again", async () => {
    const host = await load(POLICY, { ...FUNCTION_LIMITS, timeoutMs: 1500 });
    const [hanging, beside] = await Promise.all([judge(host, "loop"), judge(host, "b")]);
    assert.match(hanging.error?.message ?? "", /mutate: took longer than 1500 ms$/);
    assert.deepEqual(beside.object?.metadata.labels, { by: "alice" });
  });

  test("that take too much memory fail, and the next call has a thread again", async () => {
    const host = await load(POLICY, { timeoutMs: 60_000, memoryBytes: 64 * 1024 * 1024 });
    assert.match((await judge(host, "eat")).error?.message ?? "", /mutate: took too much memory$/);
    assert.deepEqual((await judge(host, "b")).object?.metadata.labels, { by: "alice" });
  });

  test("that cannot be loaded keep the server from starting", async () => {
    await assert.rejects(load("export const nothing = 1;"), /policy-\d\.ts: exports neither mutate nor validate$/);
    await assert.rejects(load("throw new Error('at the start');"), /Error: at the start \(line 1\)$/);
    await assert.rejects(load("export function mutate( {"), /admission .*policy-\d\.ts: /);
  });
});
