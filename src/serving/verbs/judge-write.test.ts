import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decision } from "../../base/api/attributes.ts";
import { judgeWrite } from "./judge-write.ts";

const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "x" } };

function judge(decided: Decision, previous?: typeof object): Promise<void> {
  const attributes = { verb: "patch", apiGroup: "", resource: "configmaps", name: "x" };
  const asked: string[] = [];
  const identities = {
    authorize: async ({ verb }: { verb: string }) => {
      asked.push(verb);
      return decided;
    },
  };
  const target = { resource: {}, namespace: "ns", name: "x", subresource: "" };
  const context = {
    identities,
    admission: { validate: async () => assert.deepEqual(asked, previous ? [] : ["create"]) },
  };
  return judgeWrite(context as never, { attributes, warnings: [] } as never, target as never, {
    dryRun: false,
    object,
    previous,
  });
}

test("creating by PUT or apply requires permission to create", async () => {
  await judge({ decision: "allow" });
  await judge({ decision: "deny" }, object);
  await assert.rejects(judge({ decision: "noOpinion" }), { code: 403, message: 'configmaps "x" is forbidden: ' });
  await assert.rejects(judge({ decision: "deny", reason: "no" }), { message: 'configmaps "x" is forbidden: no' });
  await assert.rejects(judge({ decision: "deny", error: "broken" }), { code: 500 });
});
