import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eventually } from "../../../../../test/support/time.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { builtInKinds } from "../../../../kinds/built-in/all.ts";
import type { PolicySpec } from "../../../../kinds/types/admission-registration.ts";
import { Catalog } from "../../../../resources/model/catalog.ts";
import { TestCluster } from "../../shared/controllers.suite.ts";
import { policyStatus } from "./policy-status.ts";
import { checkTypes } from "./type-checker.ts";

const catalog = new Catalog(builtInKinds());
const rule = (...resources: string[]) => ({ apiGroups: ["apps"], apiVersions: ["v1"], resources, operations: ["*"] });
const spec = (expression: string, more: PolicySpec = {}): PolicySpec => ({
  matchConstraints: { resourceRules: [rule("deployments")] },
  validations: [{ expression }],
  ...more,
});
const problem = (expression: string, more?: PolicySpec) => {
  const [first] = checkTypes(catalog, spec(expression, more));
  return first?.warning.split("\n")[0];
};

// The expected warnings are those that kube-controller-manager wrote for the same policies.
suite("type checking of policies", () => {
  test("finds unknown fields of built-in kinds", () => {
    const prefix = "apps/v1, Kind=Deployment: ERROR: <input>:";
    assert.deepEqual(checkTypes(catalog, spec("object.spec.foo == 1")), [
      {
        fieldRef: "spec.validations[0].expression",
        warning: `${prefix}1:12: undefined field 'foo'\n | object.spec.foo == 1\n | ...........^\n`,
      },
    ]);
    const types = "found no matching overload for '_>_' applied to '(int, string)'";
    assert.equal(problem("object.spec.replicas > '1'"), `${prefix}1:22: ${types}`);
    assert.equal(problem("object.metadata.labels.foo == 'x' && object.status.replicas == 1"), undefined);
    assert.equal(problem("object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')"), undefined);
    assert.equal(problem("object.spec.strategy.rollingUpdate.maxSurge == 1"), undefined);
  });

  test("does not know quantities and authorizer.requestResource, like upstream", () => {
    const limits = "object.spec.template.spec.containers.all(c, c.resources.limits.cpu == '1')";
    assert.match(problem(limits) ?? "", /undefined field 'limits'$/);
    const asked = problem("authorizer.requestResource.check('get').allowed()");
    assert.match(asked ?? "", /unexpected failed resolution of 'kubernetes.authorization.Authorizer'$/);
  });

  test("supports variables and params", () => {
    const variables = [{ name: "replicas", expression: "object.spec.replicas" }];
    assert.match(problem("variables.replicas == 'a'", { variables }) ?? "", /applied to '\(int, string\)'$/);
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    assert.match(problem("params.spec == 1", { paramKind }) ?? "", /undefined field 'spec'$/);
    assert.equal(problem("params.data.a == 'b'", { paramKind }), undefined);
  });

  test("ignores wildcards and subresources, and reports every other kind", () => {
    const rules = (...resources: string[]) => ({ matchConstraints: { resourceRules: [rule(...resources)] } });
    assert.equal(problem("object.spec.foo == 1", rules("*", "deployments/scale")), undefined);
    const [both] = checkTypes(catalog, spec("object.spec.foo == 1", rules("statefulsets", "deployments")));
    assert.deepEqual(both?.warning.match(/Kind=\w+/g), ["Kind=Deployment", "Kind=StatefulSet"]);
  });

  test("supports recursive schemas up to the recursion", () => {
    const resourceRules = [
      {
        apiGroups: ["apiextensions.k8s.io"],
        apiVersions: ["v1"],
        resources: ["customresourcedefinitions"],
        operations: ["*"],
      },
    ];
    assert.equal(problem("object.spec.group == 'a'", { matchConstraints: { resourceRules } }), undefined);
  });
});

test("writes warnings to the status once per generation", async () => {
  const cluster = new TestCluster();
  try {
    cluster.start(policyStatus(cluster));
    const content = { spec: { ...spec("object.spec.foo == 1"), failurePolicy: "Fail" } } as Partial<KubeObject>;
    await cluster.create("validatingadmissionpolicies", "p", { content });
    const status = async () =>
      (await cluster.find("validatingadmissionpolicies", "p"))?.status as
        | { observedGeneration?: number; typeChecking?: { expressionWarnings?: unknown[] } }
        | undefined;
    await eventually(async () => (await status())?.observedGeneration === 1);
    assert.equal((await status())?.typeChecking?.expressionWarnings?.length, 1);
    await cluster.change("validatingadmissionpolicies", "p", (policy) => {
      policy.spec = { ...(content.spec as object), validations: [{ expression: "object.spec.replicas == 1" }] };
    });
    await eventually(async () => (await status())?.observedGeneration === 2);
    assert.equal((await status())?.typeChecking?.expressionWarnings, undefined);
  } finally {
    await cluster.stop();
  }
});
