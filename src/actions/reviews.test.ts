import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../api/api-error.ts";
import {
  type Attributes,
  type Decision,
  nonResourceAttributes,
  resourceAttributes as wanted,
} from "../api/attributes.ts";
import type { JsonObject, KubeObject } from "../api/object.ts";
import type { Clock } from "../lib/clock.ts";
import { ManualClock } from "../lib/environment.suite.ts";
import type { ResourceHooks, SubresourceCall } from "../resources/model/definition.ts";
import {
  localSubjectAccessReviewHooks,
  selfSubjectAccessReviewHooks,
  selfSubjectRulesReviewHooks,
  subjectAccessReviewHooks,
} from "./access-reviews.ts";
import { selfSubjectReviewHooks, tokenReviewHooks } from "./identity-reviews.ts";

const user = { name: "me", uid: "1", groups: ["g"] };

/** What comes of a question, and what was asked on the way. */
async function ask(hooks: ResourceHooks, body: JsonObject): Promise<{ answer: KubeObject; asked: Attributes[] }> {
  const asked: Attributes[] = [];
  const call = {
    access: { clock: new ManualClock(0) as Clock } as SubresourceCall["access"],
    key: { namespace: "", name: "" },
    body: { kind: "K", apiVersion: "authorization.k8s.io/v1", metadata: {}, ...body },
    dryRun: false,
    user,
    identities: {
      authenticateToken: async (token: string, audiences: readonly string[]) =>
        token === "good" ? { user, audiences: ["a"] } : { audiences, error: "no" },
      authorize: async (attributes: Attributes): Promise<Decision> => {
        asked.push(attributes);
        return { decision: "noOpinion", reason: "because" };
      },
      rulesFor: async () => ({ resourceRules: [], nonResourceRules: [], incomplete: true }),
    },
  };
  assert.ok(hooks.act);
  return { answer: (await hooks.act(call)) as KubeObject, asked };
}

async function refusal(hooks: ResourceHooks, body: JsonObject): Promise<string> {
  const error: unknown = await ask(hooks, body).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ApiError);
  return error.message;
}

const resourceAttributes = { verb: "get", resource: "pods", namespace: "n" };

test("questions are passed on and answered", async () => {
  const { answer, asked } = await ask(subjectAccessReviewHooks, { spec: { user: "u", resourceAttributes } });
  assert.deepEqual(answer.status, { allowed: false, reason: "because" });
  const subject = { name: "u", groups: [], uid: "", extra: {} };
  assert.deepEqual(asked, [wanted(subject, { ...resourceAttributes, apiGroup: "", apiVersion: "*" })]);
  const own = await ask(selfSubjectAccessReviewHooks, { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } });
  assert.deepEqual(own.asked, [nonResourceAttributes(user, "get", "/x")]);
  const rules = await ask(selfSubjectRulesReviewHooks, { spec: { namespace: "n" } });
  assert.deepEqual(rules.answer.status, { resourceRules: [], nonResourceRules: [], incomplete: true });
});

test("what is wrong with a question is told", async () => {
  const rows: [hooks: ResourceHooks, body: JsonObject, expected: string][] = [
    [
      subjectAccessReviewHooks,
      { spec: { user: "u" } },
      "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ],
    [
      subjectAccessReviewHooks,
      { spec: { resourceAttributes } },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      localSubjectAccessReviewHooks,
      { metadata: { namespace: "other" }, spec: { user: "u", resourceAttributes } },
      'spec.resourceAttributes.namespace: Invalid value: "n": must match metadata.namespace',
    ],
    [
      selfSubjectAccessReviewHooks,
      { metadata: { name: "x" }, spec: { resourceAttributes } },
      'metadata: Invalid value: {"name":"x"}: must be empty',
    ],
  ];
  for (const [hooks, body, expected] of rows) {
    assert.equal(await refusal(hooks, body), `.authorization.k8s.io "" is invalid: ${expected}`);
  }
  assert.equal(await refusal(selfSubjectRulesReviewHooks, { spec: {} }), "no namespace on request");
  assert.equal(await refusal(tokenReviewHooks, {}), "token is required for TokenReview in authentication");
});

test("selectors that cannot be understood are named", async () => {
  const review = (labelSelector: JsonObject) => ({
    spec: { resourceAttributes: { ...resourceAttributes, labelSelector } },
  });
  const status = async (labelSelector: JsonObject) =>
    (await ask(selfSubjectAccessReviewHooks, review(labelSelector))).answer.status as JsonObject;
  assert.equal((await status({ rawSelector: "a in (b)" })).evaluationError, undefined);
  assert.equal(
    (await status({ rawSelector: "a in" })).evaluationError,
    "spec.resourceAttributes.labelSelector ignored due to parse error",
  );
});

test("selectors are part of the question, as far as they are understood", async () => {
  const fieldSelector = {
    requirements: [
      { key: "spec.nodeName", operator: "In", values: ["a"] },
      { key: "spec.x", operator: "Exists" },
    ],
  };
  const labelSelector = { requirements: [{ key: "app", operator: "NotIn", values: ["b", "c"] }] };
  const body = { spec: { resourceAttributes: { ...resourceAttributes, fieldSelector, labelSelector } } };
  const { asked, answer } = await ask(selfSubjectAccessReviewHooks, body);
  assert.deepEqual(asked[0]?.fieldSelector, [{ field: "spec.nodeName", isEqual: true, value: "a" }]);
  assert.deepEqual(asked[0]?.labelSelector, [{ key: "app", operator: "notin", values: ["b", "c"] }]);
  const { evaluationError } = answer.status as JsonObject;
  assert.equal(evaluationError, "spec.resourceAttributes.fieldSelector partially ignored due to parse error");
});

test("callers are told who they are, and whom a token stands for", async () => {
  const { answer } = await ask(selfSubjectReviewHooks, { metadata: { name: "dropped" } });
  assert.deepEqual(answer.metadata, { creationTimestamp: "1970-01-01T00:00:00Z" });
  const shown = { username: "me", uid: "1", groups: ["g"] };
  assert.deepEqual(answer.status, { userInfo: shown });
  const status = async (token: string) => (await ask(tokenReviewHooks, { spec: { token } })).answer.status;
  assert.deepEqual(await status("good"), { authenticated: true, user: shown, audiences: ["a"] });
  assert.deepEqual(await status("bad"), { user: {}, error: "no" });
});
