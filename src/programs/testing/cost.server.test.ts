import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

/** Megabytes in use after a garbage collection. */
function heldMegabytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const OBJECTS = 1000;
const FORKS = 200;

suite("memory of control planes", () => {
  test("forks share their data, and writes to one do not affect the others", async () => {
    await using cp = await startControlPlane({ controllers: "none" });
    for (let i = 0; i < OBJECTS; i++) {
      const body = JSON.stringify({ metadata: { name: `c-${i}` }, data: { value: "x".repeat(1000) } });
      const headers = { "content-type": "application/json" };
      await (await cp.fetch("/api/v1/namespaces/default/configmaps", { method: "POST", body, headers })).text();
    }
    const read = async (plane: ControlPlane) => (await plane.fetch("/api/v1/namespaces/default/configmaps")).text();
    const before = heldMegabytes();
    const forks: ControlPlane[] = [];
    for (let i = 0; i < FORKS; i++) forks.push(await cp.fork());
    const each = (heldMegabytes() - before) / FORKS;
    // A copy of the objects would be more than 1.2 MB.
    assert.ok(each < 0.25, `${each} MB per fork`);
    const [first, middle, last] = [forks[0], forks[FORKS / 2], forks.at(-1)];
    assert.ok(first && middle && last);
    const state = await read(cp);
    await middle.fetch("/api/v1/namespaces/default/configmaps/c-5", { method: "DELETE" });
    assert.notEqual(await read(middle), state);
    for (const plane of [cp, first, last]) assert.equal(await read(plane), state);
    await Promise.all(forks.map((fork) => fork.close()));
  });

  test("control planes that handle requests share immutable data", async () => {
    await using origin = await startControlPlane();
    await origin.settled();
    const before = heldMegabytes();
    const planes: ControlPlane[] = [];
    for (let i = 0; i < 20; i++) {
      const plane = await startControlPlane();
      await (await plane.fetch("/api/v1/namespaces")).text();
      await plane.settled();
      planes.push(plane);
    }
    const each = (heldMegabytes() - before) / planes.length;
    // About 0.9 MB; certificates, kinds, schemas and RBAC rules would be several times as much.
    assert.ok(each < 2, `${each} MB per control plane`);
    await Promise.all(planes.map((plane) => plane.close()));
  });
});
