import { CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "binnacle/testing";
import * as hooks from "vitest";

const { describe, expect, test } = hooks;

const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } };
const cp = forkPerTest(hooks, { manifests: settings });
const SETTINGS = { namespace: "default", name: "settings" };

test("takes away what others need", async () => {
  await cp().client(CoreV1Api).deleteNamespacedConfigMap(SETTINGS);
});

test("finds it, and can be told to misbehave", async () => {
  const core = cp().client(CoreV1Api);
  cp().faults.error({ verb: "get", resource: "configmaps", code: 503, times: 1 });
  await expect(core.readNamespacedConfigMap(SETTINGS)).rejects.toMatchObject({ code: 503 });
  expect((await core.readNamespacedConfigMap(SETTINGS)).metadata?.name).toBe("settings");
});

describe("at the same time", () => {
  for (const name of ["one", "two", "three"]) {
    test.concurrent(`${name} is alone`, async (context) => {
      const core = cp(context).client(CoreV1Api);
      await core.createNamespacedConfigMap({ namespace: "default", body: { metadata: { generateName: name } } });
      const { items } = await core.listNamespacedConfigMap({ namespace: "default", labelSelector: "!x" });
      const made = items.filter(({ metadata }) => metadata?.generateName);
      expect(made.map(({ metadata }) => metadata?.generateName)).toEqual([name]);
    });
  }
});

const withColour = test.extend<{ colour: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern.
  colour: async ({}, use) => use("blue"),
});

withColour("stands beside fixtures", async ({ colour }) => {
  const [made] = await cp().apply({ ...settings, data: { colour } });
  expect(made).toMatchObject({ data: { colour: "blue" } });
});
