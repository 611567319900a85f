import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PODS = "/api/v1/namespaces/default/pods";

describe("resources that cannot be listed have no table", () => {
  let server: RunningBinnacle;
  const call = (path: string, body: unknown, accept = TABLE) =>
    clientFor(server.base, tokens.admin).call("POST", path, body, { accept });

  before(async () => {
    server = await startBinnacle({ flags: ["--disable-admission-plugins=ServiceAccount"] });
  });
  after(() => server.kill());

  test("rejects a review requested as a table", async () => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const review = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };
    const { status, body } = await call(path, review);
    assert.equal(status, 406);
    assert.equal(body.reason, "NotAcceptable");
    assert.equal((await call(path, review, `${TABLE},application/json`)).status, 201);
  });

  test("rejects an action before executing it", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    assert.equal((await call(PODS, pod)).body.kind, "Table");
    const { status } = await call(`${PODS}/p/eviction`, { metadata: { name: "p" } });
    assert.equal(status, 406);
    const { body } = await clientFor(server.base, tokens.admin).call("GET", `${PODS}/p`);
    assert.equal(body.metadata.deletionTimestamp, undefined);
  });
});
