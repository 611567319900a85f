import assert from "node:assert/strict";
import { test } from "node:test";
import { type AdmissionModule, OptionsError, startServer } from "../../src/index.ts";
import { startControlPlane } from "../../src/testing.ts";
import { clientFor } from "../support/client.ts";

const pods = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
const seen: string[] = [];
const functions: AdmissionModule[] = [
  {
    rules: pods,
    mutate(request) {
      seen.push(`${request.operation} ${request.name} by ${request.user.name}`);
      if (request.object) request.object.metadata.labels = { owner: request.user.name };
    },
    async validate({ object, warn }) {
      warn("looked at");
      return object?.metadata.name === "refused" ? "not this one" : undefined;
    },
  },
  {
    rules: pods,
    mutate({ name, object }) {
      if (name === "bug") throw new TypeError("a bug");
      // Earlier changes are visible, and another object may replace this one.
      return object && { ...object, data: { labels: JSON.stringify(object.metadata.labels) } };
    },
  },
];

test("functions of the program change and refuse writes", async () => {
  await using server = await startServer({ admission: { functions }, log: false, shutdownGraceMs: 0 });
  const client = clientFor(server.url, server.token);
  const create = (name: string) => client.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name } });
  const made = await create("made");
  assert.equal(made.status, 201);
  assert.deepEqual(made.body.data, { labels: JSON.stringify({ owner: "kubernetes-admin" }) });
  assert.equal(made.headers.warning, '299 - "looked at"');
  assert.ok(seen.includes("CREATE made by kubernetes-admin"));
  const refused = await create("refused");
  assert.deepEqual([refused.status, refused.body.message], [403, 'configmaps "refused" is forbidden: not this one']);
  const broken = await create("bug");
  assert.equal(broken.status, 500);
  assert.match(
    broken.body.message,
    /admission function of functions\[1\] failed: mutate: TypeError: a bug \(line \d+\)$/,
  );
  const asked = { object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "refused" } } };
  const { body } = await client.call("POST", "/binnacle/admission/explain", asked);
  assert.match(body.text, /function functions\[0\], mutate: changed the object\n +\/metadata\/labels: \(none\) → /);
  assert.equal(body.refusedBy, "AdmissionFunctions, function functions[0]");
});

test("so they do in a control plane for tests, and what is no module is refused", async () => {
  await using cp = await startControlPlane({ config: { admission: { functions } } });
  const made = await cp.fetch("/api/v1/namespaces/default/configmaps", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ metadata: { name: "refused" } }),
  });
  assert.equal(made.status, 403);
  for (const wrong of [[{}], [{ mutate: 1 }], [{ mutate() {}, rules: 1 }], {}]) {
    await assert.rejects(startServer({ admission: { functions: wrong as never } }), OptionsError);
  }
});
