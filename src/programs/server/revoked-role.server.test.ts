import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { test } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import { eventually } from "../../../test/support/time.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { defaultConfig } from "./config.ts";
import { startServer } from "./server.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const MAPS = "/api/v1/namespaces/default/configmaps";

test("a role that is revoked between two requests on one connection no longer allows the second", async (t) => {
  const config = { ...defaultConfig, insecurePort: await freePort(), shutdownGraceMs: 0 };
  const server = await startServer(config, drivenEnvironment());
  t.after(() => server.close());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set<number | undefined>();

  /** Sends a request on the one connection. Returns the status. */
  const send = (method: string, path: string, object?: object, user?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", ...(user && { "impersonate-user": user }) };
      const call = request(`${server.insecureUrl}${path}`, { method, agent, headers }, (response) => {
        ports.add(response.socket.localPort);
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      });
      call.once("error", reject);
      call.end(object && JSON.stringify(object));
    });
  const read = () => send("GET", MAPS, undefined, "alice");

  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
  assert.equal(await send("POST", `${RBAC}/roles`, { metadata: { name: "reader" }, rules }), 201);
  const binding = {
    metadata: { name: "alice" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
  };
  for (let round = 0; round < 5; round++) {
    assert.equal(await send("POST", `${RBAC}/rolebindings`, binding), 201);
    await eventually(async () => (await read()) === 200);
    assert.equal(await send("DELETE", `${RBAC}/rolebindings/alice`), 200);
    await eventually(async () => (await read()) === 403);
    assert.equal(await read(), 403);
  }
  assert.equal(ports.size, 1);
});
