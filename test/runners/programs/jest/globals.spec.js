const { forkPerTest } = require("binnacle/testing");

const cp = forkPerTest(globalThis, { controllers: "none" });
const NAMESPACE = "/api/v1/namespaces/default";

test("the hooks that Jest makes global do as well", async () => {
  expect((await cp().fetch(`${NAMESPACE}/serviceaccounts/default`)).status).toBe(404);
  expect((await cp().fetch(NAMESPACE)).status).toBe(200);
});
