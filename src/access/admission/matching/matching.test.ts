import assert from "node:assert/strict";
import { test } from "node:test";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { webhookConditions } from "../../../data/cel/kubernetes/admission-environment.ts";
import { authorizerValue } from "../../../data/cel/kubernetes/authorizer.ts";
import { jsonValue } from "../../../data/cel/values/json.ts";
import type { Rule } from "../../../kinds/types/admission-registration.ts";
import { namespace, pod, World } from "../admission.suite.ts";
import { AuthorizerAnswers } from "../expressions/authorizer-answers.ts";
import { describeRequest } from "../expressions/request-variable.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { MatchConditions } from "./conditions.ts";
import { isAdmissionConfiguration, isReview } from "./exempt.ts";
import { criteriaOf, type MatchCriteria, MatchIndex } from "./match-index.ts";
import { Selectors } from "./selectors.ts";

const world = new World();
const ALL: Rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };

function webhook(rules: readonly Rule[], isEquivalent = false): { criteria: MatchCriteria } {
  return { criteria: { rules, excluded: [], meansAll: false, isEquivalent } };
}

/** The group, version, resource and kind that rules match for a request, if any. */
function found(items: readonly { criteria: MatchCriteria }[], request: AdmissionRequest): string[] {
  const index = new MatchIndex(world.resources.catalog, items);
  const print = () =>
    index.find(request).map(({ matched: { group, version, resource, kind } }) => {
      return `${group}/${version}/${resource} ${kind.group}/${kind.version}/${kind.kind}`;
    });
  const first = print();
  assert.deepEqual(print(), first, "the cached result is the same");
  return first;
}

const createPod = world.request({ plural: "pods", object: pod() });

test("matches operations, groups, versions, resources, subresources and scopes", () => {
  const scale = world.request({
    group: "apps",
    plural: "deployments",
    subresource: "scale",
    operation: "UPDATE",
    object: { kind: "Scale", apiVersion: "autoscaling/v1", metadata: { name: "d", namespace: "ns" } },
  });
  const cluster = world.request({ plural: "nodes", object: { ...pod(), metadata: { name: "n" } } });
  const aNamespace: KubeObject = { kind: "Namespace", apiVersion: "v1", metadata: { name: "ns", namespace: "ns" } };
  const ofNamespace = world.request({ plural: "namespaces", object: aNamespace });
  const rows: [change: Rule, request: AdmissionRequest, isMatch: boolean][] = [
    [{}, createPod, true],
    [{ operations: ["CREATE", "UPDATE"] }, createPod, true],
    [{ operations: ["UPDATE"] }, createPod, false],
    [{ operations: [] }, createPod, false],
    [{ apiGroups: [""] }, createPod, true],
    [{ apiGroups: ["apps"] }, createPod, false],
    [{ apiVersions: ["v1"] }, createPod, true],
    [{ apiVersions: ["v2"] }, createPod, false],
    [{ resources: ["pods"] }, createPod, true],
    [{ resources: ["pods/status"] }, createPod, false],
    [{ resources: ["pods/*"] }, createPod, true],
    [{ resources: ["*"] }, createPod, true],
    [{ resources: ["nodes"] }, createPod, false],
    [{ resources: ["*"] }, scale, false],
    [{ resources: ["deployments"] }, scale, false],
    [{ resources: ["deployments/scale"] }, scale, true],
    [{ resources: ["*/scale"] }, scale, true],
    [{ resources: ["*/status"] }, scale, false],
    [{ resources: ["deployments/*"] }, scale, true],
    [{ scope: "Namespaced" }, createPod, true],
    [{ scope: "Cluster" }, createPod, false],
    [{ scope: "Namespaced" }, cluster, false],
    [{ scope: "Cluster" }, cluster, true],
    [{ scope: "Namespaced" }, ofNamespace, false],
    [{ scope: "Cluster" }, ofNamespace, true],
    [{ scope: "Other" }, createPod, false],
  ];
  for (const [change, request, isMatch] of rows) {
    const text = JSON.stringify([change, request.resource.definition.plural, request.subresource]);
    assert.equal(found([webhook([{ ...ALL, ...change }])], request).length, isMatch ? 1 : 0, text);
  }
  assert.deepEqual(found([webhook([ALL])], scale), ["apps/v1/deployments autoscaling/v1/Scale"]);
  assert.deepEqual(found([webhook([])], createPod), [], "a webhook without rules is never called");
});

test("matchPolicy Equivalent finds other versions and groups of the same objects, the earlier rule first", () => {
  const event = { kind: "Event", apiVersion: "v1", metadata: { name: "e", namespace: "ns" } };
  const request = world.request({ plural: "events", object: event });
  const rule: Rule = { ...ALL, apiGroups: ["events.k8s.io"], resources: ["events"] };
  assert.deepEqual(found([webhook([rule])], request), [], "Exact");
  assert.deepEqual(found([webhook([rule], true)], request), ["events.k8s.io/v1/events events.k8s.io/v1/Event"]);
  const both = webhook([rule, { ...ALL, apiGroups: [""] }], true);
  assert.deepEqual(found([both], request), ["/v1/events /v1/Event"], "the resource itself goes before all others");
});

test("applies excludeResourceRules and resourceNames of policies", () => {
  const policy = (match: Parameters<typeof criteriaOf>[0]) => ({ criteria: criteriaOf(match) });
  const named = (...resourceNames: string[]): Rule => ({ ...ALL, resourceNames });
  const rows: [match: Parameters<typeof criteriaOf>[0], isMatch: boolean][] = [
    [{}, true],
    [{ resourceRules: [named("p")] }, true],
    [{ resourceRules: [named("q")] }, false],
    [{ resourceRules: [named("q"), ALL] }, true],
    [{ resourceRules: [ALL], excludeResourceRules: [ALL] }, false],
    [{ resourceRules: [ALL], excludeResourceRules: [named("p")] }, false],
    [{ resourceRules: [ALL], excludeResourceRules: [named("q")] }, true],
    [{ excludeResourceRules: [{ ...ALL, operations: ["DELETE"] }] }, true],
  ];
  for (const [match, isMatch] of rows) {
    assert.equal(found([policy(match)], createPod).length, isMatch ? 1 : 0, JSON.stringify(match));
  }
});

test("finds a kind that is added later", () => {
  const { catalog } = new World().resources;
  const index = new MatchIndex(catalog, [webhook([{ ...ALL, apiGroups: ["events.k8s.io"] }], true)]);
  const all = catalog.definitions;
  const event = { kind: "Event", apiVersion: "v1", metadata: { name: "e", namespace: "ns" } };
  const request = world.request({ plural: "events", object: event });
  catalog.replace(all.filter(({ group }) => group !== "events.k8s.io"));
  assert.equal(index.find(request).length, 0);
  catalog.replace(all);
  assert.equal(index.find(request).length, 1);
});

test("matches selectors against the namespace, and the object before and after", async () => {
  await world.given("namespaces", namespace("ns", { team: "a" }));
  const labelled = pod({}, { labels: { app: "x" } });
  const select = (given: ConstructorParameters<typeof Selectors>[0], request: AdmissionRequest) =>
    new Selectors(given).match(request, request, world.access);
  const [a, b] = [{ matchLabels: { team: "a" } }, { matchLabels: { team: "b" } }];
  const app = { matchLabels: { app: "x" } };
  const update = world.request({ plural: "pods", object: pod(), previous: labelled });
  const written = world.request({ plural: "namespaces", object: namespace("new", { team: "b" }) });
  const deleted = world.request({ plural: "namespaces", operation: "DELETE", previous: namespace("ns") });
  const node = world.request({ plural: "nodes", object: { kind: "Node", apiVersion: "v1", metadata: { name: "n" } } });
  const rows: [given: ConstructorParameters<typeof Selectors>[0], request: AdmissionRequest, isMatch: boolean][] = [
    [{}, createPod, true],
    [{ namespaceSelector: a }, createPod, true],
    [{ namespaceSelector: b }, createPod, false],
    [{ namespaceSelector: { matchExpressions: [{ key: "team", operator: "DoesNotExist" }] } }, createPod, false],
    [{ objectSelector: app }, createPod, false],
    [{ objectSelector: app }, update, true],
    [{ namespaceSelector: b }, written, true],
    [{ namespaceSelector: a }, written, false],
    [{ namespaceSelector: a }, deleted, true],
    [{ namespaceSelector: b }, node, true],
  ];
  for (const [given, request, isMatch] of rows) {
    assert.equal(await select(given, request), isMatch, JSON.stringify(given));
  }
  const lost = world.request({ plural: "pods", object: pod({}, { namespace: "lost" }) });
  await assert.rejects(select({ namespaceSelector: a }, lost), /namespaces "lost" not found/);
  assert.equal(await select({ namespaceSelector: a, objectSelector: app }, lost), false, "the object decides first");
});

test("exempts admission configuration and reviews", () => {
  const object = (kind: string) => ({ kind, apiVersion: "x/v1", metadata: { name: "x" } });
  const registration = world.request({
    group: "admissionregistration.k8s.io",
    plural: "validatingadmissionpolicies",
    object: object("ValidatingAdmissionPolicy"),
  });
  assert.ok(isAdmissionConfiguration(registration));
  assert.ok(!isAdmissionConfiguration(createPod));
  const review = world.request({
    group: "authorization.k8s.io",
    plural: "subjectaccessreviews",
    object: object("SubjectAccessReview"),
  });
  assert.ok(isReview(review));
  assert.ok(!isReview(createPod));
});

const mayGet: Authorizer = {
  authorize: async ({ verb, user }) => ({ decision: verb === "get" ? "allow" : "noOpinion", reason: user.name }),
};

async function evaluate(expressions: readonly string[], failsClosed = true) {
  const conditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
  const answers = new AuthorizerAnswers(mayGet, createPod.user);
  const [match] = new MatchIndex(world.resources.catalog, [webhook([ALL])]).find(createPod);
  assert.ok(match);
  const variables = new Map([
    ["object", jsonValue(createPod.object)],
    ["oldObject", null],
    ["request", jsonValue(describeRequest(createPod, match.matched))],
    ["authorizer", authorizerValue(answers.check)],
  ]);
  const matcher = new MatchConditions(conditions, webhookConditions, failsClosed);
  return matcher.evaluate((name) => variables.get(name), answers);
}

test("evaluates match conditions with the request, its objects and the authorizer", async () => {
  const TRUE = [
    "object.metadata.name == 'p' && oldObject == null",
    "request.operation == 'CREATE' && request.kind.kind == 'Pod' && request.userInfo.username == 'alice'",
    "request.resource.resource == 'pods' && request.namespace == 'ns' && !request.dryRun && !has(request.subResource)",
    "authorizer.group('').resource('pods').check('get').allowed()",
    "!authorizer.path('/x').check('post').allowed()",
    "authorizer.serviceAccount('ns', 'bot').group('').resource('pods').check('get').reason() == 'system:serviceaccount:ns:bot'",
  ];
  assert.deepEqual(await evaluate(TRUE), { matches: true, errors: 0 });
  assert.deepEqual(await evaluate(["true", "request.operation == 'DELETE'"]), { matches: false, errors: 0 });
});

test("applies the failure policy to errors in conditions, unless another one is false", async () => {
  const wrong = "object.nothing == 1";
  const error = `expression '${wrong}' resulted in error: no such key: nothing`;
  assert.deepEqual(await evaluate([wrong]), { matches: false, error, errors: 1 });
  assert.deepEqual(await evaluate([wrong, "false"]), { matches: false, errors: 1 });
  assert.deepEqual(await evaluate([wrong], false), { matches: false, errors: 1 });
  const { error: both } = await evaluate([wrong, "object.other == 1"]);
  assert.equal(both, `[${error}, expression 'object.other == 1' resulted in error: no such key: other]`);
  const { error: uncompiled } = await evaluate(["request.uid == ''"]);
  assert.match(uncompiled ?? "", /^compilation error: compilation failed: ERROR: <input>:1:8: undefined field 'uid'/);
  assert.match((await evaluate(["'text'"])).error ?? "", /must evaluate to bool but got string$/);
});

test("limits the cost of each condition and of all together", async () => {
  const costly = (n: number) => `[${"0,".repeat(n)}0].all(x, [${"0,".repeat(n)}0].all(y, x == y))`;
  const limit = `expression '${costly(600)}' resulted in error: operation cancelled: actual cost limit exceeded`;
  assert.equal((await evaluate([costly(600)])).error, limit);
  const budget = "validation failed due to running out of cost budget, no further validation rules will be run";
  assert.equal((await evaluate(Array.from({ length: 8 }, () => costly(300)))).error, budget);
});
