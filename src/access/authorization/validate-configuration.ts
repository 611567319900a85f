import path from "node:path";
import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  printFieldError,
  requiredField,
  tooManyField,
} from "../../base/api/field-error.ts";
import { dns1123Subdomain } from "../../base/api/names.ts";
import { printMilliseconds } from "../../base/go/duration.ts";
import type { AuthorizerConfiguration, WebhookConfiguration } from "./configuration.ts";
import { compileMatchCondition } from "./match-conditions.ts";
import { joinErrors } from "./rbac.ts";
import { REVIEW_VERSIONS } from "./webhook-authorizer.ts";

/** Checks files that a configuration names. */
export interface NamedFiles {
  /** Undefined if the file exists and is a regular file. */
  problemOf(file: string): string | undefined;
}

const TYPES = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"];
const MAX_CONDITIONS = 64;
const MAX_TIMEOUT_MS = 30_000;

/** What a configuration is validated against. */
export interface ValidationContext {
  readonly files: NamedFiles;
  /** Types that must be configured, because they were when the server started. */
  readonly required: readonly string[];
}

/** Throws an Error with all validation errors. Compat: the messages of `LoadAndValidateData`. */
export function validateAuthorizers(authorizers: readonly AuthorizerConfiguration[], context: ValidationContext): void {
  const errors = errorsOf(authorizers, context).map(printFieldError);
  if (errors.length > 0) throw new Error(joinErrors([...new Set(errors)]));
  const builtIn = authorizers.filter(({ type }) => type !== "Webhook");
  const problems = builtIn
    .filter(({ type, name }) => name !== type.toLowerCase())
    .map(({ type, name }) => `expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`);
  const missing = context.required.filter((type) => !builtIn.some((one) => one.type === type)).sort();
  if (missing.length > 0) problems.push(`missing required types: [${missing.join(" ")}]`);
  if (problems.length > 0) throw new Error(joinErrors(problems));
}

function errorsOf(authorizers: readonly AuthorizerConfiguration[], context: ValidationContext): FieldError[] {
  if (authorizers.length === 0) {
    return [requiredField("authorizers", "at least one authorization mode must be defined")];
  }
  const types = new Set<string>();
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, { type, name, webhook }] of authorizers.entries()) {
    const at = `authorizers[${index}]`;
    if (type === "") errors.push(requiredField(`${at}.type`));
    else if (!TYPES.includes(type)) errors.push(notSupportedField(`${at}.type`, type, TYPES));
    else if (types.has(type) && type !== "Webhook") errors.push(duplicateField(`${at}.type`, type));
    else {
      types.add(type);
      const nameProblems = dns1123Subdomain(name);
      if (name === "") errors.push(requiredField(`${at}.name`));
      else if (names.has(name)) errors.push(duplicateField(`${at}.name`, name));
      else if (nameProblems.length > 0) {
        errors.push(invalidField(`${at}.name`, name, `authorizer name is invalid: ${nameProblems.join(", ")}`));
      }
      names.add(name);
      for (const error of webhookErrors(type, webhook, at, context)) errors.push(error);
    }
  }
  return errors;
}

function webhookErrors(
  type: string,
  webhook: WebhookConfiguration | undefined,
  at: string,
  context: ValidationContext,
): FieldError[] {
  if (type !== "Webhook") {
    return webhook ? [invalidField(`${at}.webhook`, "non-null", "may only be specified when type=Webhook")] : [];
  }
  if (!webhook) return [requiredField(`${at}.webhook`, "required when type=Webhook")];
  const { timeoutMs, authorizedMs, unauthorizedMs, failurePolicy, matchConditions } = webhook;
  const { subjectAccessReviewVersion: version, matchConditionSubjectAccessReviewVersion: conditions } = webhook;
  const conditionField = `${at}.matchConditionSubjectAccessReviewVersion`;
  const missing = "required if match conditions are specified";
  return [
    ...timeoutErrors(timeoutMs, `${at}.timeout`),
    ...negativeErrors(authorizedMs, `${at}.authorizedTTL`),
    ...negativeErrors(unauthorizedMs, `${at}.unauthorizedTTL`),
    ...choiceErrors(`${at}.subjectAccessReviewVersion`, version, REVIEW_VERSIONS),
    ...(conditions !== "" ? choiceErrors(conditionField, conditions, ["v1"]) : []),
    ...(conditions === "" && matchConditions.length > 0 ? [requiredField(conditionField, missing)] : []),
    ...choiceErrors(`${at}.failurePolicy`, failurePolicy, ["NoOpinion", "Deny"]),
    ...connectionErrors(webhook, `${at}.connectionInfo`, context.files),
    ...conditionErrors(matchConditions, `${at}.matchConditions`),
  ];
}

function timeoutErrors(ms: number, field: string): FieldError[] {
  if (ms === 0) return [requiredField(field)];
  if (ms > 0 && ms <= MAX_TIMEOUT_MS) return [];
  return [invalidField(field, printMilliseconds(ms), "must be > 0s and <= 30s")];
}

const negativeErrors = (ms: number, field: string): FieldError[] =>
  ms < 0 ? [invalidField(field, printMilliseconds(ms), "must be > 0s")] : [];

function choiceErrors(field: string, value: string, choices: readonly string[]): FieldError[] {
  if (value === "") return [requiredField(field)];
  return choices.includes(value) ? [] : [notSupportedField(field, value, choices)];
}

function connectionErrors({ connectionInfo }: WebhookConfiguration, at: string, files: NamedFiles): FieldError[] {
  const { type, kubeConfigFile } = connectionInfo;
  const field = `${at}.kubeConfigFile`;
  if (type === "") return [requiredField(`${at}.type`)];
  if (type === "InClusterConfig") {
    if (kubeConfigFile !== undefined) {
      return [invalidField(field, kubeConfigFile, "can only be set when type=KubeConfigFile")];
    }
    return [invalidField(`${at}.type`, type, "is not supported by Binnacle")];
  }
  if (type !== "KubeConfigFile") {
    const shown = { Type: type, KubeConfigFile: kubeConfigFile ?? null };
    return [notSupportedField(`${at}.type`, shown, ["InClusterConfig", "KubeConfigFile"])];
  }
  if (!kubeConfigFile) return [requiredField(field)];
  if (!path.isAbsolute(kubeConfigFile)) return [invalidField(field, kubeConfigFile, "must be an absolute path")];
  const problem = files.problemOf(kubeConfigFile);
  return problem === undefined ? [] : [invalidField(field, kubeConfigFile, problem)];
}

function conditionErrors(conditions: readonly string[], at: string): FieldError[] {
  if (conditions.length > MAX_CONDITIONS) return [tooManyField(at, conditions.length, MAX_CONDITIONS)];
  const seen = new Set<string>();
  return conditions.flatMap((expression, index): FieldError[] => {
    const field = `${at}[${index}].expression`;
    if (expression.trim() === "") return [requiredField(field)];
    if (seen.has(expression)) return [duplicateField(field, expression)];
    seen.add(expression);
    try {
      compileMatchCondition(expression);
      return [];
    } catch (error) {
      return [invalidField(field, expression, error instanceof Error ? error.message : String(error))];
    }
  });
}
