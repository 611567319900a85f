import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { CostServer } from "../cost/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const NAMESPACE = "/api/v1/namespaces/fuzz";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const PARAMS = 3000;
/** Processor time of the event loop during one wait of another connection. */
const MOST_MS = 100;

/** Takes far longer for all params than the event loop may be held, and little for one. */
const COSTLY = 'params.data.all(a, params.data.all(b, a + b != "c"))';

suite("a policy binding whose selector matches thousands of params", { timeout: 300_000 }, () => {
  let server: CostServer;
  let client: Client;

  before(async () => {
    server = await CostServer.start(120_000);
    client = clientFor(server.binnacle.base, tokens.admin);
    const labels = { role: "params" };
    const data = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, "value"]));
    const make = (index: number) =>
      client.call("POST", `${NAMESPACE}/configmaps`, { metadata: { name: `p${index}`, labels }, data });
    for (let made = 0; made < PARAMS; made += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => make(made + index)));
    }
  });
  after(() => server?.stop());

  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }];
  const paramRef = { selector: { matchLabels: { role: "params" } }, parameterNotFoundAction: "Deny" };
  const common = { paramKind: { apiVersion: "v1", kind: "ConfigMap" }, matchConstraints: { resourceRules: rules } };

  /** Stores a policy with its binding, and measures a small write once it is in force. */
  const measure = async (kind: "validating" | "mutating", policy: object, binding: object, isInForce: RegExp) => {
    const name = { metadata: { name: `many-${kind}` } };
    const policies = `${ADMISSION}/${kind}admissionpolicies`;
    const made = await client.call("POST", policies, { ...name, spec: { ...common, ...policy } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const spec = { policyName: `many-${kind}`, paramRef, ...binding };
    assert.equal(
      (await client.call("POST", `${ADMISSION}/${kind}admissionpolicybindings`, { ...name, spec })).status,
      201,
    );
    const write = async (generateName: string) => {
      const body = Buffer.from(JSON.stringify({ metadata: { generateName } }));
      return server.measure({ method: "POST", path: `${NAMESPACE}/secrets`, body }, true);
    };
    await eventually(async () => isInForce.test((await write("first-")).text), { withinMs: 60_000 });
    const cost = await write("measured-");
    await client.call("DELETE", `${policies}/many-${kind}`);
    return cost;
  };

  test("is evaluated for each without holding up the event loop", async () => {
    const expression = `${COSTLY} && params.data.size() > 100`;
    const policy = { validations: [{ expression, message: "too few" }] };
    const cost = await measure("validating", policy, { validationActions: ["Deny"] }, /too few/);
    assert.match(cost.text, /denied request: too few/);
    assertBelow(cost.loopMs, MOST_MS, "the event loop was held");
  });

  test("changes an object for each without holding up the event loop", async () => {
    const expression =
      'Object{metadata: Object.metadata{annotations: {"last": COSTLY ? params.metadata.name : ""}}}'.replace(
        "COSTLY",
        COSTLY,
      );
    const mutations = [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }];
    const policy = { mutations, reinvocationPolicy: "Never", failurePolicy: "Fail" };
    const cost = await measure("mutating", policy, {}, /"last":"p/);
    assert.equal(cost.status, 201, cost.text);
    assertBelow(cost.loopMs, MOST_MS, "the event loop was held");
  });
});
