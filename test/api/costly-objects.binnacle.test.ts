import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { CostServer } from "../cost/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { type CostlyObject, costlyObjects } from "./costly-objects.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "costly.example.com";
/** Processor time of the event loop during one wait of another connection. */
const MOST_MS = 100;
/** Larger requests do not run on the event loop. */
const MOST_BYTES = 64 * 1024;
/** A policy that is in force denies an object with this label. */
const DENIED = { denied: "yes" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

/** The kind of the objects of a case. Each case has a namespace of its own, to which its policies apply. */
function kindOf(namespace: string, { definition }: Pick<CostlyObject, "definition">) {
  const core = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", field: "data" };
  const custom = { apiVersion: `${GROUP}/v1`, kind: `Costly-${namespace}`, plural: `${namespace}s`, field: "spec" };
  const kind = definition ? custom : core;
  const root = definition ? `/apis/${GROUP}/v1` : "/api/v1";
  return { ...kind, place: `${root}/namespaces/${namespace}/${kind.plural}` };
}

suite("small requests do not hold up the event loop, whatever an administrator made:", { timeout: 1_200_000 }, () => {
  let server: CostServer;
  let client: Client;

  before(async () => {
    server = await CostServer.start(300_000);
    client = clientFor(server.binnacle.base, tokens.admin);
  });
  after(() => server?.stop());

  const make = async (path: string, object: object) => {
    const { status, body } = await client.call("POST", path, object);
    assert.equal(status, 201, JSON.stringify(body).slice(0, 500));
  };

  const makePolicies = async (namespace: string, { policies = [] }: CostlyObject) => {
    const resourceRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
    const marker = { validations: [{ expression: "object.metadata.?labels.denied != optional.of('yes')" }] };
    for (const [index, policy] of [...policies, marker].entries()) {
      const metadata = { name: `${namespace}-${index}` };
      const spec = { failurePolicy: "Ignore", matchConstraints: { resourceRules }, ...policy };
      await make(`${ADMISSION}/validatingadmissionpolicies`, { metadata, spec });
      const actions = policy === marker ? ["Deny"] : ["Audit"];
      const bound = { policyName: metadata.name, validationActions: actions, matchResources: { namespaceSelector } };
      await make(`${ADMISSION}/validatingadmissionpolicybindings`, { metadata, spec: bound });
    }
    const { place } = kindOf(namespace, {});
    await eventually(async () => {
      const { status } = await client.call("POST", place, { metadata: { generateName: "a-", labels: DENIED } });
      return status === 422;
    });
  };

  const makeDefinition = async (namespace: string, { definition }: CostlyObject) => {
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", ...definition?.spec } } };
    const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...definition?.version };
    const { place, plural, kind } = kindOf(namespace, { definition });
    const names = { plural, kind };
    const spec = { group: GROUP, scope: "Namespaced", names, versions: [version] };
    await make(DEFINITIONS, { metadata: { name: `${plural}.${GROUP}` }, spec });
    await eventually(async () => (await client.call("GET", place)).status === 200);
  };

  for (const [index, costly] of costlyObjects.entries()) {
    test(costly.name, async (t) => {
      const namespace = `case-${index}`;
      // Requests of a user who sent a costly one lately do not begin on the event loop.
      const headers = { "impersonate-user": `user-${index}`, "impersonate-group": "system:masters" };
      const measure = async (method: string, path: string, more: object = {}, body?: Buffer) => {
        const sent = { method, path, headers: { ...headers, ...more }, ...(body && { body }) };
        const cost = await server.measure(sent, true);
        t.diagnostic(
          `${method}: ${Math.round(cost.loopMs)} ms of the event loop, ${Math.round(cost.processorMs)} ms in all`,
        );
        assertBelow(cost.loopMs, MOST_MS, `${method} held the event loop`);
        return cost;
      };
      await make("/api/v1/namespaces", { metadata: { name: namespace } });
      if (costly.policies) await makePolicies(namespace, costly);
      if (costly.definition) await makeDefinition(namespace, costly);
      const { place, field, apiVersion, kind } = kindOf(namespace, costly);
      const content = typeof costly.content === "function" ? costly.content() : costly.content;
      const body = Buffer.from(
        JSON.stringify({ apiVersion, kind, metadata: { generateName: "x-" }, [field]: content }),
      );
      if (costly.listed === undefined) {
        assert.ok(body.length < MOST_BYTES, `${body.length} bytes`);
        const { status, text } = await measure("POST", place, {}, body);
        assert.equal(status, costly.code, text.slice(0, 500));
        return;
      }
      for (let made = 0; made < costly.listed; made++) {
        const { status, text } = await server.send({ method: "POST", path: place, headers, body });
        assert.equal(status, costly.code, text.slice(0, 500));
      }
      assert.equal((await measure("GET", place, TABLE)).status, 200);
      assert.equal((await measure("GET", `${place}?watch=1&timeoutSeconds=1&resourceVersion=0`, TABLE)).status, 200);
    });
  }
});
