import { duplicateField, type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { dns1035Label } from "../../../base/api/names.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { Rule, Webhook } from "../../types/admission-registration.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { validateLabelSelector } from "../shared-rules/label-selector.ts";
import { webhookServiceErrors, webhookUrlErrors } from "../shared-rules/webhook-client.ts";
import type { KnownExpressions } from "./expressions.ts";
import { pushClosed, pushConditionErrors, pushMatchPolicyErrors, pushRuleErrors } from "./match-rules.ts";
import { staticNameErrors, staticNameWarnings } from "./static-names.ts";

/** Requirements of a webhook configuration. Those that the stored one violates do not apply to updates. */
interface Demands {
  readonly noSideEffects: boolean;
  readonly knownReviewVersion: boolean;
  readonly uniqueNames: boolean;
  readonly validSelectors: boolean;
  readonly checksConditions: boolean;
  readonly knownConditions: KnownExpressions;
}

const FAILURE_POLICIES = ["Fail", "Ignore"];
const WITHOUT_SIDE_EFFECTS = ["None", "NoneOnDryRun"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun", "Some", "Unknown"];
const REINVOCATION_POLICIES = ["IfNeeded", "Never"];
const REVIEW_VERSIONS = ["v1", "v1beta1"];

const webhooksOf = (object: KubeObject): readonly Webhook[] => (object.webhooks as Webhook[] | undefined) ?? [];

function demandsOf(next: KubeObject, previous: KubeObject | undefined): Demands {
  const before = previous ? webhooksOf(previous) : [];
  const webhooks = webhooksOf(next);
  const names = before.map(({ name = "" }) => name);
  return {
    noSideEffects: before.every(({ sideEffects }) => WITHOUT_SIDE_EFFECTS.includes(sideEffects ?? "")),
    knownReviewVersion: before.every(
      ({ admissionReviewVersions: versions = [] }) => versions.length === 0 || versions.some(isKnownVersion),
    ),
    uniqueNames: new Set(names).size === names.length,
    validSelectors: before.every(
      ({ namespaceSelector, objectSelector }) =>
        validateLabelSelector(namespaceSelector, "").length + validateLabelSelector(objectSelector, "").length === 0,
    ),
    knownConditions: new Set(
      before.flatMap(({ matchConditions = [] }) => matchConditions.map((one) => one.expression)),
    ),
    checksConditions:
      previous === undefined ||
      before.length !== webhooks.length ||
      webhooks.some((webhook, index) => !sameValue(webhook.matchConditions, before[index]?.matchConditions)),
  };
}

const isKnownVersion = (version: string): boolean => REVIEW_VERSIONS.includes(version);

function pushNameErrors(errors: FieldError[], path: string, name: string): void {
  const texts = subdomainName(name);
  if (name === "") errors.push(requiredField(path));
  else if (texts.length > 0) errors.push(invalidField(path, name, texts.join(",")));
  else if (name.split(".").length < 3) {
    errors.push(invalidField(path, name, "should be a domain with at least three segments separated by dots"));
  }
}

function pushWebhookErrors(errors: FieldError[], path: string, webhook: Webhook, demands: Demands): void {
  pushNameErrors(errors, `${path}.name`, webhook.name ?? "");
  for (const [index, rule] of (webhook.rules ?? []).entries()) pushRuleErrors(errors, `${path}.rules[${index}]`, rule);
  pushClosed(errors, `${path}.failurePolicy`, webhook.failurePolicy, FAILURE_POLICIES);
  pushMatchPolicyErrors(errors, `${path}.matchPolicy`, webhook.matchPolicy);
  const allowed = demands.noSideEffects ? WITHOUT_SIDE_EFFECTS : SIDE_EFFECTS;
  const sideEffects = webhook.sideEffects ?? undefined;
  if (sideEffects === undefined) {
    errors.push(requiredField(`${path}.sideEffects`, `must specify one of ${allowed.join(", ")}`));
  }
  pushClosed(errors, `${path}.sideEffects`, sideEffects, allowed);
  const { timeoutSeconds: timeout = 1 } = webhook;
  if (timeout < 1 || timeout > 30) {
    const text = "the timeout value must be between 1 and 30 seconds";
    errors.push(invalidField(`${path}.timeoutSeconds`, timeout, text));
  }
  for (const member of ["namespaceSelector", "objectSelector"] as const) {
    const options = { allowsInvalidValues: !demands.validSelectors };
    addAll(errors, validateLabelSelector(webhook[member], `${path}.${member}`, options));
  }
  pushClosed(errors, `${path}.reinvocationPolicy`, webhook.reinvocationPolicy, REINVOCATION_POLICIES);
  pushClientErrors(errors, `${path}.clientConfig`, webhook);
  if (demands.checksConditions) {
    const options = { params: false, known: demands.knownConditions };
    pushConditionErrors(errors, `${path}.matchConditions`, webhook.matchConditions, options);
  }
}

function pushClientErrors(errors: FieldError[], path: string, { clientConfig = {} }: Webhook): void {
  const { url, service } = clientConfig;
  if ((url === undefined) === (service === undefined)) {
    errors.push(requiredField(path, "exactly one of url or service is required"));
  } else if (url !== undefined) addAll(errors, webhookUrlErrors(url, `${path}.url`));
  else if (service !== undefined) addAll(errors, webhookServiceErrors(service, `${path}.service`));
}

function pushVersionErrors(errors: FieldError[], path: string, versions: readonly string[], needsKnown: boolean): void {
  const known = REVIEW_VERSIONS.join(", ");
  if (versions.length === 0) {
    errors.push(requiredField(path, `must specify one of ${known}`));
    return;
  }
  const isSecond = seenBefore<string>();
  for (const [index, version] of versions.entries()) {
    const at = `${path}[${index}]`;
    if (isSecond(version)) errors.push(invalidField(at, version, "duplicate version"));
    else pushInvalid(errors, at, version, dns1035Label(version, "characters"));
  }
  if (needsKnown && !versions.some(isKnownVersion)) {
    errors.push(invalidField(path, versions, `must include at least one of ${known}`));
  }
}

const NOT_CALLED: readonly (readonly [group: string, resource: string])[] = [
  ["authentication.k8s.io", "selfsubjectreviews"],
  ["authentication.k8s.io", "tokenreviews"],
  ["authorization.k8s.io", "localsubjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectrulesreviews"],
  ["authorization.k8s.io", "subjectaccessreviews"],
];

/** Warns about rules for resources that webhooks are never called for. */
function ruleWarnings(path: string, { apiGroups = [], resources = [] }: Rule): string[] {
  if (apiGroups.includes("*") || resources.includes("*")) return [];
  const named = apiGroups.flatMap((group) =>
    resources
      .filter((resource) => NOT_CALLED.some((one) => one[0] === group && one[1] === resource))
      .map((resource) => `${resource}.${group}`),
  );
  const text = "is excluded from admission webhooks; this rule will have no effect";
  return [...new Set(named)].map((name) => `${path}: ${name} ${text}`);
}

/** ValidatingWebhookConfiguration and MutatingWebhookConfiguration. */
export const webhookConfigurationHooks: ResourceHooks = {
  validate(next, previous) {
    const errors: FieldError[] = [];
    const demands = demandsOf(next, previous);
    const names = new Set<string>();
    for (const [index, webhook] of webhooksOf(next).entries()) {
      const path = `webhooks[${index}]`;
      pushWebhookErrors(errors, path, webhook, demands);
      const { name = "", admissionReviewVersions: versions = [] } = webhook;
      pushVersionErrors(errors, `${path}.admissionReviewVersions`, versions ?? [], demands.knownReviewVersion);
      if (demands.uniqueNames && name !== "" && names.has(name)) errors.push(duplicateField(`${path}.name`, name));
      names.add(name);
    }
    return [...errors, ...staticNameErrors(next, previous)];
  },
  warn(next, previous) {
    const ofRules = webhooksOf(next).flatMap(({ rules = [] }, index) =>
      rules.flatMap((rule, at) => ruleWarnings(`webhooks[${index}].rules[${at}]`, rule)),
    );
    return [...staticNameWarnings(next, previous), ...ofRules];
  },
};
