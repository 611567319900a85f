import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import {
  type Attributes,
  type Decision,
  nonResourceAttributes,
  resourceAttributes as wanted,
} from "../../../base/api/attributes.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import type { ActionCall, CreateAction } from "../../../resources/model/actions.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from "./access-reviews.ts";
import { selfSubjectReview, tokenReview } from "./identity-reviews.ts";

const user = { name: "me", uid: "1", groups: ["g"] };

/** The response to a review, and the attributes that were authorized. */
async function ask(review: CreateAction, body: JsonObject): Promise<{ answer: KubeObject; asked: Attributes[] }> {
  const asked: Attributes[] = [];
  const call = {
    access: { clock: new ManualClock(0) as Clock } as ActionCall["access"],
    key: { namespace: "", name: "" },
    body: { kind: "K", apiVersion: "authorization.k8s.io/v1", metadata: {}, ...body },
    dryRun: false,
    user,
    warn: assert.fail,
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
  return { answer: (await review(call)) as KubeObject, asked };
}

async function refusal(review: CreateAction, body: JsonObject): Promise<string> {
  const error: unknown = await ask(review, body).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ApiError);
  return error.message;
}

const resourceAttributes = { verb: "get", resource: "pods", namespace: "n" };

test("authorizes reviews and returns the decision", async () => {
  const { answer, asked } = await ask(subjectAccessReview, { spec: { user: "u", resourceAttributes } });
  assert.deepEqual(answer.status, { allowed: false, reason: "because" });
  const subject = { name: "u", groups: [], uid: "", extra: {} };
  assert.deepEqual(asked, [wanted(subject, { ...resourceAttributes, apiGroup: "", apiVersion: "*" })]);
  const own = await ask(selfSubjectAccessReview, { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } });
  assert.deepEqual(own.asked, [nonResourceAttributes(user, "get", "/x")]);
  const rules = await ask(selfSubjectRulesReview, { spec: { namespace: "n" } });
  assert.deepEqual(rules.answer.status, { resourceRules: [], nonResourceRules: [], incomplete: true });
});

test("rejects invalid reviews", async () => {
  const rows: [action: CreateAction, body: JsonObject, expected: string][] = [
    [
      subjectAccessReview,
      { spec: { user: "u" } },
      "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ],
    [
      subjectAccessReview,
      { spec: { resourceAttributes } },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      localSubjectAccessReview,
      { metadata: { namespace: "other" }, spec: { user: "u", resourceAttributes } },
      'spec.resourceAttributes.namespace: Invalid value: "n": must match metadata.namespace',
    ],
    [
      selfSubjectAccessReview,
      { metadata: { name: "x" }, spec: { resourceAttributes } },
      'metadata: Invalid value: {"name":"x"}: must be empty',
    ],
  ];
  for (const [action, body, expected] of rows) {
    assert.equal(await refusal(action, body), `.authorization.k8s.io "" is invalid: ${expected}`);
  }
  assert.equal(await refusal(selfSubjectRulesReview, { spec: {} }), "no namespace on request");
  assert.equal(await refusal(tokenReview, {}), "token is required for TokenReview in authentication");
});

test("names selectors that cannot be parsed", async () => {
  const review = (labelSelector: JsonObject) => ({
    spec: { resourceAttributes: { ...resourceAttributes, labelSelector } },
  });
  const status = async (labelSelector: JsonObject) =>
    (await ask(selfSubjectAccessReview, review(labelSelector))).answer.status as JsonObject;
  assert.equal((await status({ rawSelector: "a in (b)" })).evaluationError, undefined);
  assert.equal(
    (await status({ rawSelector: "a in" })).evaluationError,
    "spec.resourceAttributes.labelSelector ignored due to parse error",
  );
});

test("authorizes with selectors, as far as they are supported", async () => {
  const fieldSelector = {
    requirements: [
      { key: "spec.nodeName", operator: "In", values: ["a"] },
      { key: "spec.x", operator: "Exists" },
    ],
  };
  const labelSelector = { requirements: [{ key: "app", operator: "NotIn", values: ["b", "c"] }] };
  const body = { spec: { resourceAttributes: { ...resourceAttributes, fieldSelector, labelSelector } } };
  const { asked, answer } = await ask(selfSubjectAccessReview, body);
  assert.deepEqual(asked[0]?.fieldSelector, [{ field: "spec.nodeName", isEqual: true, value: "a" }]);
  assert.deepEqual(asked[0]?.labelSelector, [{ key: "app", operator: "notin", values: ["b", "c"] }]);
  const { evaluationError } = answer.status as JsonObject;
  assert.equal(evaluationError, "spec.resourceAttributes.fieldSelector partially ignored due to parse error");
});

test("reports the caller's user info, and the user of a token", async () => {
  const { answer } = await ask(selfSubjectReview, { metadata: { name: "dropped" } });
  assert.deepEqual(answer.metadata, { creationTimestamp: "1970-01-01T00:00:00Z" });
  const shown = { username: "me", uid: "1", groups: ["g"] };
  assert.deepEqual(answer.status, { userInfo: shown });
  const status = async (token: string) => (await ask(tokenReview, { spec: { token } })).answer.status;
  assert.deepEqual(await status("good"), { authenticated: true, user: shown, audiences: ["a"] });
  assert.deepEqual(await status("bad"), { user: {}, error: "no" });
});
