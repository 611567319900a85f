import assert from "node:assert/strict";
import * as hooks from "node:test";
import { before, suite, test } from "node:test";
import { forkPerTest } from "../../src/testing.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { buildReflector, startReflector } from "./reflector-program.ts";

const resource = "configmaps";
const PATH = "/api/v1/namespaces/default/configmaps";
const PATIENCE = { everyMs: 20 };

suite("client-go's reflector goes through", { ...needs("go") }, () => {
  const cp = forkPerTest(hooks, { controllers: "none", clock: { at: "2026-01-01T00:00:00Z" }, seed: 7 });
  let program: string;
  before(async () => {
    program = await buildReflector();
  });

  const create = (name: string) => cp().apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  const remove = (name: string) => cp().fetch(`${PATH}/${name}`, { method: "DELETE" });
  /** namespace/name → resourceVersion of all there are. */
  const listed = async (): Promise<Record<string, string>> => {
    const answer = await cp().fetch("/api/v1/configmaps", { headers: { "user-agent": "list of the test" } });
    const { items } = (await answer.json()) as { items: { metadata: Record<string, string> }[] };
    return Object.fromEntries(
      items.map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion ?? ""]),
    );
  };

  function follow() {
    const reflector = startReflector(program, cp().url, cp().token);
    const names = async () =>
      Object.keys(await reflector.held()).flatMap((key) => (key.startsWith("default/") ? [key.slice(8)] : []));
    return {
      reflector,
      names,
      holds: (name: string) =>
        eventually(async () => (await names()).includes(name), { ...PATIENCE, what: `${name} is held` }),
      /** It ends with what a list shows, and had to be told these changes that do not follow from what it held. */
      async endsRight(...complaints: RegExp[]) {
        const wanted = JSON.stringify(Object.entries(await listed()).sort());
        const isEqual = async () => JSON.stringify(Object.entries(await reflector.held()).sort()) === wanted;
        await eventually(isEqual, PATIENCE).catch(() => undefined);
        assert.deepEqual(await reflector.held(), await listed());
        const told = await reflector.complaints();
        assert.equal(told.length, complaints.length, told.join("; "));
        for (const [index, complaint] of complaints.entries()) assert.match(told[index] ?? "", complaint);
      },
      [Symbol.asyncDispose]: () => reflector.stop(),
    };
  }

  test("requests that are refused", async () => {
    await create("a");
    const fault = cp().faults.error({ verb: ["list", "watch"], resource, code: 503, times: 3 });
    await using follower = follow();
    await follower.holds("a");
    assert.equal(fault.hits, 3);
    await follower.endsRight();
  });

  test("an answer that is late", async () => {
    await create("a");
    const fault = cp().faults.latency({ verb: ["list", "watch"], resource, by: { seconds: 3 }, times: 1 });
    await using follower = follow();
    await eventually(() => fault.hits === 1, PATIENCE);
    assert.deepEqual(await follower.names(), []);
    await cp().clock.advance({ seconds: 3 });
    await follower.holds("a");
    await follower.endsRight();
  });

  test("events that never come: it lacks an object and believes in a ghost until it has to list again", async () => {
    await create("ghost");
    await using follower = follow();
    await follower.holds("ghost");
    const lost = cp().faults.dropEvents({ resource, name: "lost" });
    const deletion = cp().faults.dropEvents({ resource, event: "DELETED" });
    await create("lost");
    await remove("ghost");
    await create("next");
    await follower.holds("next");
    assert.deepEqual((await follower.names()).sort(), ["ghost", "next"]);
    assert.deepEqual([lost.hits, deletion.hits], [1, 1]);
    cp().faults.clear();
    assert.equal(cp().faults.expireWatches({ resource }).hits, 1);
    await follower.holds("lost");
    await follower.endsRight();
  });

  test("an event that comes twice, which its store is told twice", async () => {
    await create("a");
    await using follower = follow();
    await follower.holds("a");
    const fault = cp().faults.repeatEvents({ resource, name: "twice", times: 1 });
    await create("twice");
    await create("next");
    await follower.holds("next");
    assert.equal(fault.hits, 1);
    await follower.endsRight(/^add of default\/twice at \d+: already held/);
  });

  test("an event that comes late", async () => {
    await create("a");
    await using follower = follow();
    await follower.holds("a");
    const fault = cp().faults.delayEvents({ resource, name: "late", by: { seconds: 3 } });
    await create("late");
    await eventually(() => fault.hits === 1, PATIENCE);
    await create("behind");
    assert.deepEqual(await follower.names(), ["a"]);
    await cp().clock.advance({ seconds: 3 });
    await follower.holds("behind");
    await follower.endsRight();
  });

  test("connections that break", async () => {
    await create("a");
    const after = cp().faults.cutWatches({ resource, afterEvents: 2, times: 2 });
    await using follower = follow();
    await follower.holds("a");
    for (const name of ["b", "c", "d", "e", "f"]) await create(name);
    await follower.holds("f");
    assert.equal(after.hits, 2);
    assert.equal(cp().faults.cutWatches({ resource }).hits, 1);
    await create("meanwhile");
    await follower.holds("meanwhile");
    await follower.endsRight();
  });

  test("a list of the past", async () => {
    await create("a");
    await create("b");
    await remove("a");
    // Refused what it asks for first, a watch that begins with all objects, it lists.
    cp().faults.error({ verb: "watch", resource, code: 500, times: 1 });
    const fault = cp().faults.staleReads({ verb: "list", resource, revisions: 2, times: 1 });
    await using follower = follow();
    await eventually(() => fault.hits === 1, PATIENCE);
    await follower.endsRight();
    const { add = 0, delete: deleted } = await follower.reflector.counts();
    assert.deepEqual([add, deleted], [1, 1], "b came and a went by the watch that followed");
  });

  test("conflicts of its writes", async () => {
    await create("a");
    await using follower = follow();
    await follower.holds("a");
    const fault = cp().faults.conflict({ verb: "update", resource, times: 2 });
    await follower.reflector.write("default/a");
    assert.equal(fault.hits, 2);
    assert.equal((await follower.reflector.counts())["attempts to write"], 3);
    await follower.endsRight();
  });

  test("compaction while it is away", async () => {
    await create("a");
    await using follower = follow();
    await follower.holds("a");
    const fault = cp().faults.latency({ verb: "watch", resource, by: { seconds: 3 }, times: 1 });
    assert.equal(cp().faults.cutWatches({ resource }).hits, 1);
    await eventually(() => fault.hits === 1, PATIENCE);
    await create("meanwhile");
    await remove("a");
    await cp().faults.compact();
    await cp().clock.advance({ seconds: 3 });
    await follower.holds("meanwhile");
    await follower.endsRight();
    const { replace = 0 } = await follower.reflector.counts();
    assert.equal(replace, 2, "it had to begin anew");
  });
});
