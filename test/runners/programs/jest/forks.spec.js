// CommonJS, as Jest runs it with neither options nor a transform.
const { forkPerTest } = require("binnacle/testing");
const { OptionsError } = require("binnacle");
const hooks = require("@jest/globals");

const { expect, test } = hooks;
const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } };
const cp = forkPerTest(hooks, { manifests: settings });
const SETTINGS = "/api/v1/namespaces/default/configmaps/settings";

test("takes away what others need", async () => {
  expect((await cp().fetch(SETTINGS, { method: "DELETE" })).status).toBe(200);
});

test("finds it, and can be told to misbehave", async () => {
  cp().faults.error({ verb: "get", resource: "configmaps", code: 503, times: 1 });
  expect((await cp().fetch(SETTINGS)).status).toBe(503);
  const found = await cp().fetch(SETTINGS);
  expect(await found.json()).toMatchObject(settings);
});

test("errors say what to do", async () => {
  await expect(cp().apply({ ...settings, kind: "Pot" })).rejects.toThrow(/unknown kind Pot in v1/);
  const wrong = require("binnacle/testing").startControlPlane(JSON.parse('{"sed":1}'));
  await expect(wrong).rejects.toBeInstanceOf(OptionsError);
});

test("timers that Jest fakes are not the server's", async () => {
  hooks.jest.useFakeTimers();
  try {
    const [made] = await cp().apply({ ...settings, data: { colour: "blue" } });
    expect(made).toEqual(expect.objectContaining({ data: { colour: "blue" } }));
    await cp().settled();
  } finally {
    hooks.jest.useRealTimers();
  }
});
