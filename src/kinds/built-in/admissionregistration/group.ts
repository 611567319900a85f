import type { Column } from "../../../base/api/columns.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition, ResourceRules } from "../../../resources/model/definition.ts";
import { AGE, column, count, NAME, printSelector, read, readText, text } from "../cells.ts";
import { defineKinds, deprecatedVersion, type Row, STATUS, type VersionRow } from "../row.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import { mutatingPolicyHooks, validatingPolicyHooks } from "./policy.ts";
import { mutatingBindingHooks, validatingBindingHooks } from "./policy-binding.ts";
import { webhookConfigurationHooks } from "./webhook-configuration.ts";

function printParamKind(policy: KubeObject): string {
  const paramKind = read(policy, ".spec.paramKind");
  if (paramKind === undefined) return "<unset>";
  return `${readText(paramKind, ".apiVersion")}/${readText(paramKind, ".kind")}`;
}

function printParamRef(binding: KubeObject): string {
  const paramRef = read(binding, ".spec.paramRef");
  const name = readText(paramRef, ".name");
  if (name !== "") return `${readText(paramRef, ".namespace", "*")}/${name}`;
  return printSelector(read(paramRef, ".selector")) || "<unset>";
}

const paramKind: Column = column("ParamKind", "string", printParamKind);
const bindingColumns: readonly Column[] = [
  NAME,
  column("PolicyName", "string", text(".spec.policyName")),
  column("ParamRef", "string", printParamRef),
  AGE,
];
const webhookColumns: readonly Column[] = [NAME, column("Webhooks", "integer", count(".webhooks")), AGE];

const rules: ResourceRules = { generation: "counted", requiresResourceVersion: true, freeFinalizers: true };
const webhookRules: ResourceRules = { ...rules, countsEmpties: true };
const common: Pick<Row, "scope" | "categories" | "rules"> = { scope: "Cluster", categories: ["api-extensions"], rules };

/** Defaults of RuleWithOperations and MatchResources at a path. */
function matchDefaults(path: string): Defaults {
  return {
    [`${path}.matchPolicy`]: "Equivalent",
    [`${path}.namespaceSelector`]: {},
    [`${path}.objectSelector`]: {},
    [`${path}.resourceRules[*].scope`]: "*",
    [`${path}.excludeResourceRules[*].scope`]: "*",
  };
}

const policyDefaults: Defaults = { "spec.failurePolicy": "Fail", ...matchDefaults("spec.matchConstraints") };
const bindingDefaults: Defaults = matchDefaults("spec.matchResources");
const webhookDefaults: Defaults = {
  "webhooks[*].failurePolicy": "Fail",
  "webhooks[*].matchPolicy": "Equivalent",
  "webhooks[*].namespaceSelector": {},
  "webhooks[*].objectSelector": {},
  "webhooks[*].timeoutSeconds": 10,
  "webhooks[*].rules[*].scope": "*",
  "webhooks[*].clientConfig.service.port": 443,
};

function mutatingVersions(kind: string): (string | VersionRow)[] {
  return [
    "v1",
    deprecatedVersion("v1beta1", "1.37", "1.40", `admissionregistration.k8s.io/v1 ${kind}`),
    deprecatedVersion("v1alpha1", "1.35", "1.38"),
  ];
}

/** The kinds of admissionregistration.k8s.io: webhook configurations, admission policies and their bindings. */
export const admissionregistrationKinds: ResourceDefinition[] = defineKinds(
  { group: "admissionregistration.k8s.io", schemaPackage: "io.k8s.api.admissionregistration" },
  [
    {
      ...common,
      kind: "MutatingAdmissionPolicy",
      hooks: mutatingPolicyHooks,
      defaults: policyDefaults,
      plural: "mutatingadmissionpolicies",
      versions: mutatingVersions("MutatingAdmissionPolicy"),
      columns: [NAME, column("Mutations", "integer", count(".spec.mutations")), paramKind, AGE],
    },
    {
      ...common,
      kind: "MutatingAdmissionPolicyBinding",
      hooks: mutatingBindingHooks,
      defaults: bindingDefaults,
      plural: "mutatingadmissionpolicybindings",
      versions: mutatingVersions("MutatingAdmissionPolicyBinding"),
      columns: bindingColumns,
    },
    {
      ...common,
      kind: "MutatingWebhookConfiguration",
      hooks: webhookConfigurationHooks,
      defaults: { ...webhookDefaults, "webhooks[*].reinvocationPolicy": "Never" },
      plural: "mutatingwebhookconfigurations",
      versions: ["v1"],
      columns: webhookColumns,
      rules: webhookRules,
    },
    {
      ...common,
      kind: "ValidatingAdmissionPolicy",
      hooks: validatingPolicyHooks,
      defaults: policyDefaults,
      plural: "validatingadmissionpolicies",
      versions: ["v1"],
      subresources: { status: STATUS },
      columns: [NAME, column("Validations", "integer", count(".spec.validations")), paramKind, AGE],
      rules: { ...rules, statusKeepsMetadata: true },
    },
    {
      ...common,
      kind: "ValidatingAdmissionPolicyBinding",
      hooks: validatingBindingHooks,
      defaults: bindingDefaults,
      plural: "validatingadmissionpolicybindings",
      versions: ["v1"],
      columns: bindingColumns,
    },
    {
      ...common,
      kind: "ValidatingWebhookConfiguration",
      hooks: webhookConfigurationHooks,
      defaults: webhookDefaults,
      plural: "validatingwebhookconfigurations",
      versions: ["v1"],
      columns: webhookColumns,
      rules: webhookRules,
    },
  ],
);
