import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaViolations } from "../../../../kinds/custom/schema-violations.ts";
import type { CustomResourceDefinition, DefinitionSpec } from "../../../../kinds/types/custom-resource-definition.ts";
import { establish } from "./establishing.ts";
import { judgeApproval, judgeSchemas } from "./policy-conditions.ts";

const definition = (spec: DefinitionSpec, annotations: Record<string, string> = {}): CustomResourceDefinition => ({
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  metadata: { name: "x", annotations },
  spec,
  status: { conditions: [{ type: "NamesAccepted", status: "True" }] },
});

test("reports whether groups of the Kubernetes project are approved", () => {
  const judged = (annotation: string) =>
    judgeApproval(definition({ group: "a.k8s.io" }, { "api-approved.kubernetes.io": annotation }))?.conditions[0];
  assert.equal(judgeApproval(definition({ group: "example.com" })), undefined);
  assert.deepEqual(judged("https://example.com/1"), {
    type: "KubernetesAPIApprovalPolicyConformant",
    status: "True",
    reason: "ApprovedAnnotation",
    message: "approved in https://example.com/1",
  });
  assert.equal(judged("unapproved, mine")?.reason, "UnapprovedAnnotation");
  assert.equal(judged("yes")?.reason, "InvalidAnnotation");
});

test("reports a schema that is not structural until it is", async () => {
  const broken = definition({ versions: [{ schema: { openAPIV3Schema: {} } }] });
  const judge = (one: CustomResourceDefinition) =>
    judgeSchemas({ definition: one, violations: () => schemaViolations(one, async () => {}) });
  const change = await judge(broken);
  assert.deepEqual(
    change?.conditions[0]?.message,
    "spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root",
  );
  const told = { ...broken, status: { conditions: [...(change?.conditions ?? [])] } };
  assert.equal(await judge(told), undefined);
  const mended = { ...told, spec: { versions: [{ schema: { openAPIV3Schema: { type: "object" } } }] } };
  assert.deepEqual(await judge(mended), { conditions: [], removed: ["NonStructuralSchema"] });
});

test("does not establish a definition with an invalid caBundle", () => {
  const webhook = { clientConfig: { caBundle: Buffer.from("nothing").toString("base64") } };
  const [condition] = establish(definition({ conversion: { strategy: "Webhook", webhook } }))?.conditions ?? [];
  assert.equal(condition?.reason, "InvalidCABundle");
  assert.equal(establish(definition({}))?.conditions[0]?.status, "True");
});
