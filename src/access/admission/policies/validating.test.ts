import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { PolicyBindingSpec, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import { unobservedPolicies } from "./observer.ts";
import { CONFIG_MAPS, PolicyWorld } from "./policies.suite.ts";
import { validatingPolicies, validatingSource } from "./validating.ts";

const start = (t: TestContext, authorizer?: Authorizer) =>
  new PolicyWorld(
    t,
    {
      kind: "ValidatingAdmissionPolicy",
      source: validatingSource,
      plugin: (source, { resources }, judge) =>
        validatingPolicies(source, { resources, authorizer: judge, observer: unobservedPolicies }),
    },
    authorizer,
  );

/** The result of one policy for a write of an empty config map. */
async function verdict(t: TestContext, spec: PolicySpec, binding?: PolicyBindingSpec, object?: object) {
  const world = start(t);
  await world.policy("p", spec, binding);
  return world.judge(object);
}

const PREFIX = `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: `;
const refuse = (more: object = {}) => ({ validations: [{ expression: "false", ...more }] });

suite("ValidatingAdmissionPolicy", () => {
  test("denies with the configured reason and message", async (t) => {
    const { error, refusal } = await verdict(t, refuse({ reason: "Forbidden", message: " no " }));
    assert.equal(refusal, `${PREFIX}no`);
    assert.deepEqual([error?.code, error?.status.reason], [403, "Forbidden"]);
    assert.deepEqual(error?.status.details?.causes, [
      { message: "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no" },
    ]);
    const plain = await verdict(t, refuse());
    assert.deepEqual([plain.error?.code, plain.refusal], [422, `${PREFIX}failed expression: false`]);
  });

  test("falls back from a message expression that fails, is too long or has several lines", async (t) => {
    const told = async (messageExpression: string) =>
      (await verdict(t, refuse({ messageExpression, message: "fallback" }))).refusal?.slice(PREFIX.length);
    assert.equal(await told("' a' + request.operation + ' '"), "aCREATE");
    assert.equal(await told("string(object.data.missing)"), "fallback");
    assert.equal(await told("'a\\nb'"), "fallback");
    assert.equal(await told(`'${"x".repeat(6000)}'`), "fallback");
    assert.equal(await told("' '"), "fallback");
  });

  test("provides old and new object, request, namespace, params and variables", async (t) => {
    const expressions = [
      "object.metadata.name == 'c' && oldObject == null",
      "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
      "request.namespace == 'ns' && !has(request.subResource) && request.dryRun == false",
      "request.userInfo.username == 'alice'",
      "namespaceObject.metadata.labels.env == 'test'",
      "params == null",
      "variables.sum == 3",
    ];
    const validations = expressions.map((expression) => ({ expression }));
    const variables = [
      { name: "one", expression: "1" },
      { name: "sum", expression: "variables.one + 2" },
    ];
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    assert.equal((await verdict(t, { validations, variables, paramKind })).refusal, undefined);
  });

  test("applies failurePolicy if an expression cannot be evaluated", async (t) => {
    const validations = [{ expression: "object.data.key == 'a'" }];
    const text = "expression 'object.data.key == 'a'' resulted in error: no such key: data";
    assert.equal((await verdict(t, { validations })).refusal, PREFIX + text);
    assert.equal((await verdict(t, { validations, failurePolicy: "Ignore" })).refusal, undefined);
    const variables = [{ name: "v", expression: "object.data.key" }];
    const used = { variables, validations: [{ expression: "variables.v == 'a'" }] };
    assert.match(
      (await verdict(t, used)).refusal ?? "",
      /composited variable "v" fails to evaluate: no such key: data$/,
    );
  });

  test("reports a variable that is defined twice and uses itself", async (t) => {
    const variables = [
      { name: "a", expression: "1" },
      { name: "b", expression: "variables.a" },
      { name: "a", expression: "variables.b" },
    ];
    const validations = [{ expression: "variables.a == 1" }];
    assert.match((await verdict(t, { variables, validations })).refusal ?? "", /variable "a" uses itself/);
  });

  test("skips a policy if a match condition is false, even if another one fails", async (t) => {
    const conditions = (...expressions: string[]) => ({
      ...refuse(),
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    });
    assert.equal((await verdict(t, conditions("true"))).refusal, `${PREFIX}failed expression: false`);
    assert.equal((await verdict(t, conditions("object.missing == 1", "false"))).refusal, undefined);
    assert.equal(
      (await verdict(t, conditions("object.missing == 1"))).refusal,
      `${PREFIX}expression 'object.missing == 1' resulted in error: no such key: missing`,
    );
  });

  test("warns and audits instead of denying, according to the binding", async (t) => {
    const { refusal, warnings, annotations } = await verdict(t, refuse({ message: "no" }), {
      validationActions: ["Warn", "Audit"],
    });
    assert.equal(refusal, undefined);
    assert.deepEqual(warnings, ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no"]);
    assert.deepEqual(JSON.parse(annotations["validation.policy.admission.k8s.io/validation_failure"] ?? ""), [
      { message: "no", policy: "p", binding: "p", expressionIndex: 0, validationActions: ["Warn", "Audit"] },
    ]);
  });

  test("adds audit annotations, except for null and white space", async (t) => {
    const auditAnnotations = [
      { key: "name", valueExpression: "string(object.metadata.name)" },
      { key: "none", valueExpression: "null" },
      { key: "spaces", valueExpression: "' '" },
    ];
    assert.deepEqual((await verdict(t, { auditAnnotations })).annotations, { "p/name": "c" });
    const failing = {
      auditAnnotations: [{ key: "k", valueExpression: "string(authorizer.path('/').check('get').reason())" }],
    };
    assert.match((await verdict(t, failing)).refusal ?? "", /no such attribute\(s\): authorizer$/);
  });

  test("fails when the cost budget is used up", async (t) => {
    const costly = { expression: "[1,2,3,4,5,6].all(a, !object.data.large.contains('z'))" };
    const data = { large: "x".repeat(1_000_000) };
    const { refusal } = await verdict(t, { validations: Array.from({ length: 20 }, () => costly) }, {}, { data });
    const text = "validation failed due to running out of cost budget, no further validation rules will be run";
    assert.equal(refusal, PREFIX + text);
  });

  test("checks the user, the request and service accounts with the authorizer", async (t) => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      async authorize({ user, verb, resource = "", namespace = "", name = "", path = "" }) {
        asked.push(`${user.name} ${verb} ${resource}${path} ${namespace}/${name}`);
        return { decision: verb === "get" ? "allow" : "deny", reason: "because" };
      },
    };
    const world = start(t, authorizer);
    const validations = [
      { expression: "authorizer.requestResource.check('get').allowed()" },
      { expression: "authorizer.group('').resource('pods').namespace('n').check('get').reason() == 'because'" },
      { expression: "!authorizer.serviceAccount('n', 's').path('/healthz').check('post').allowed()" },
    ];
    await world.policy("p", { validations });
    assert.equal((await world.judge()).refusal, undefined);
    assert.deepEqual(asked, [
      "alice get configmaps ns/c",
      "alice get pods n/",
      "system:serviceaccount:n:s post /healthz /",
    ]);
  });
});

suite("params of a ValidatingAdmissionPolicy", () => {
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  const param = (name: string, limit: string, labels = {}) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "params", labels },
    data: { limit },
  });
  const spec: PolicySpec = {
    paramKind,
    validations: [
      { expression: "object.data.value <= params.data.limit", messageExpression: "string(params.metadata.name)" },
    ],
  };
  const withParams = async (t: TestContext, binding: PolicyBindingSpec, more: PolicySpec = {}) => {
    const world = start(t);
    await world.world.given("configmaps", param("low", "3", { use: "yes" }));
    await world.world.given("configmaps", param("high", "7", { use: "yes" }));
    await world.policy("p", { ...spec, ...more }, binding);
    return (await world.judge({ data: { value: "5" } })).refusal?.slice(PREFIX.length);
  };
  const ref = (more: object) => ({ paramRef: { namespace: "params", parameterNotFoundAction: "Deny", ...more } });

  test("are found by name", async (t) => {
    assert.equal(await withParams(t, ref({ name: "low" })), "low");
    assert.equal(await withParams(t, ref({ name: "high" })), undefined);
  });

  test("are all evaluated that a selector matches", async (t) => {
    assert.equal(await withParams(t, ref({ selector: { matchLabels: { use: "yes" } } })), "low");
  });

  test("are required or optional, according to parameterNotFoundAction", async (t) => {
    const text = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
    assert.equal(await withParams(t, ref({ name: "none" })), text);
    assert.equal(await withParams(t, ref({ name: "none", parameterNotFoundAction: "Allow" })), undefined);
    assert.equal(await withParams(t, ref({ name: "none" }), { failurePolicy: "Ignore" }), undefined);
  });

  test("of an unknown kind make the policy fail", async (t) => {
    const world = start(t);
    await world.policy("p", { ...spec, paramKind: { apiVersion: "a.b/v1", kind: "C" } }, ref({ name: "x" }));
    assert.equal(
      (await world.judge()).refusal,
      `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a.b/v1, Kind=C'`,
    );
  });
});

suite("matching of a ValidatingAdmissionPolicy", () => {
  const rules = (more: object) => ({ matchConstraints: { ...CONFIG_MAPS, ...more } });
  const isRefused = async (t: TestContext, spec: PolicySpec, binding: PolicyBindingSpec = {}) =>
    (await verdict(t, { ...refuse(), ...spec }, binding)).refusal !== undefined;
  const named = (...resourceNames: string[]) => [{ ...CONFIG_MAPS?.resourceRules?.[0], resourceNames }];

  test("considers rules, names, exclusions and selectors of the policy", async (t) => {
    assert.equal(await isRefused(t, rules({})), true);
    assert.equal(await isRefused(t, rules({ resourceRules: named("d") })), false);
    assert.equal(await isRefused(t, rules({ excludeResourceRules: named("c") })), false);
    assert.equal(await isRefused(t, rules({ namespaceSelector: { matchLabels: { env: "prod" } } })), false);
    assert.equal(await isRefused(t, rules({ namespaceSelector: { matchLabels: { env: "test" } } })), true);
    assert.equal(await isRefused(t, rules({ objectSelector: { matchLabels: { a: "b" } } })), false);
  });

  test("is narrowed by the binding", async (t) => {
    const matchResources = { namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent" };
    assert.equal(await isRefused(t, {}, { matchResources }), true);
    assert.equal(await isRefused(t, {}, { matchResources: { ...matchResources, resourceRules: named("d") } }), false);
    const selecting = { ...matchResources, namespaceSelector: { matchLabels: { env: "prod" } } };
    assert.equal(await isRefused(t, {}, { matchResources: selecting }), false);
  });

  test("follows changes of the stored policies", async (t) => {
    const world = start(t);
    assert.equal((await world.judge()).refusal, undefined);
    await world.policy("p", refuse());
    assert.notEqual((await world.judge()).refusal, undefined);
    await world.policy("p", { validations: [{ expression: "true" }] });
    assert.equal((await world.judge()).refusal, undefined);
  });
});
