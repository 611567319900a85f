// With that option Jest gives CommonJS what is ES modules only, such as Kubernetes' client.
const { CoreV1Api } = require("@kubernetes/client-node");
const { forkPerTest } = require("binnacle/testing");

const cp = forkPerTest(globalThis);

test("the client of CommonJS", async () => {
  const core = cp().client(CoreV1Api);
  expect((await core.readNamespace({ name: "default" })).metadata?.name).toBe("default");
});
