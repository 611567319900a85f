import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { runWorkloads } from "./workloads.suite.ts";

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

async function readJson<T>(plane: ControlPlane, path: string): Promise<T> {
  return (await (await plane.fetch(path)).json()) as T;
}

/** The paths of all kinds that can be listed, in their preferred versions. */
async function listPaths(plane: ControlPlane): Promise<string[]> {
  type Groups = { readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[] };
  const { groups } = await readJson<Groups>(plane, "/apis");
  const roots = ["/api/v1", ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const lists = roots.map(async (root) => {
    const { resources } = await readJson<ResourceList>(plane, root);
    return resources.filter(({ verbs }) => verbs.includes("list")).map(({ name }) => `${root}/${name}`);
  });
  return (await Promise.all(lists)).flat();
}

/** All objects of a control plane after some hours of workloads, as the server sends them. */
async function objectsAfter(seed: number): Promise<string[]> {
  await using plane = await startControlPlane({ controllers: "*", seed, clock: { at: "2026-01-01T00:00:30Z" } });
  await runWorkloads(plane);
  const objects: string[] = [];
  for (const path of await listPaths(plane)) {
    type List = {
      readonly items: readonly { readonly metadata: { readonly namespace?: string; readonly name: string } }[];
    };
    const { items } = await readJson<List>(plane, path);
    for (const item of items) {
      const { namespace = "", name } = item.metadata;
      // The CA is a secret of the process and does not depend on the seed.
      const text = JSON.stringify(item).replaceAll(JSON.stringify(plane.ca).slice(1, -1), "CA");
      objects.push(`${path} ${namespace}/${name} ${text}`);
    }
  }
  return objects;
}

suite("controllers with a seed", () => {
  test("hours of workloads give the same bytes for the same seed, and others for another seed", async () => {
    const first = await objectsAfter(7);
    assert.ok(first.some((text) => text.startsWith("/api/v1/events ")));
    const second = await objectsAfter(7);
    assert.deepEqual(second, first);
    assert.notDeepEqual(await objectsAfter(8), first);
  });
});
