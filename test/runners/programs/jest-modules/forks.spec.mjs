// ES modules, which Jest runs with NODE_OPTIONS=--experimental-vm-modules.
import * as hooks from "@jest/globals";
import { CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "binnacle/testing";

const { expect, test } = hooks;

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
