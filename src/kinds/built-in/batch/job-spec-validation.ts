import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import {
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, regexMessage } from "../../../base/api/names.ts";
import { quote } from "../../../base/go/quote.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import { subdomainName } from "../shared-rules/formats.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { nonNegative, nonNegativeMembers } from "../shared-rules/numbers.ts";
import { SUCCESS_POLICY } from "./go-shapes.ts";
import { validatePodFailurePolicy, validateSuccessPolicy } from "./job-policies.ts";
import type { JobSpec } from "./job-types.ts";

const MODES = ["NonIndexed", "Indexed"];
const REPLACEMENTS = ["Failed", "TerminatingOrFailed"];
const MAX_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
const MANY_COMPLETIONS = 100_000;
const MAX_PARALLELISM_WITH_MANY = 10_000;
const MAX_FAILED_WITH_MANY = 10_000;
const MAX_MANAGER_BYTES = 63;

/** Validates JobSpec, except its selector. */
export function validateJobSpec(
  spec: JobSpec,
  path: string,
  before: JobSpec | undefined,
  features: FeatureGates,
): FieldError[] {
  const { completionMode = "NonIndexed", podFailurePolicy, successPolicy, template } = spec;
  const errors = [...validateCounts(spec, path), ...validateManager(spec.managedBy, `${path}.managedBy`)];
  if (!MODES.includes(completionMode)) errors.push(notSupportedField(`${path}.completionMode`, completionMode, MODES));
  if (completionMode === "Indexed") addAll(errors, validateIndexed(spec, path));
  if (completionMode === "NonIndexed") {
    for (const member of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
      const value = spec[member];
      if (value !== undefined)
        errors.push(invalidField(`${path}.${member}`, value, "requires indexed completion mode"));
    }
  }
  if (podFailurePolicy) addAll(errors, validatePodFailurePolicy(spec, `${path}.podFailurePolicy`));
  if (successPolicy && completionMode === "Indexed") {
    addAll(errors, validateSuccessPolicy(spec, `${path}.successPolicy`));
  } else if (successPolicy) {
    const shown = asGo(successPolicy, SUCCESS_POLICY);
    errors.push(invalidField(`${path}.successPolicy`, shown, "requires indexed completion mode"));
  }
  return [
    ...errors,
    ...validateReplacement(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(template, `${path}.template`, features, before?.template),
    ...validateRestart(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validateCounts(spec: JobSpec, path: string): FieldError[] {
  const members = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
  ];
  const errors = nonNegativeMembers(spec, path, members);
  if (spec.maxFailedIndexes === undefined) return errors;
  addAll(errors, nonNegative(spec.maxFailedIndexes, `${path}.maxFailedIndexes`));
  if (spec.backoffLimitPerIndex === undefined) {
    errors.push(requiredField(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  return errors;
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function validateManager(manager: string | undefined, path: string): FieldError[] {
  if (manager === undefined) return [];
  const errors = validatePrefixedPath(manager, path);
  if (byteLength(manager) > MAX_MANAGER_BYTES) errors.push(tooLongField(path, MAX_MANAGER_BYTES));
  return errors;
}

function validatePrefixedPath(text: string, path: string): FieldError[] {
  if (text === "") return [requiredField(path)];
  const slash = text.indexOf("/");
  const host = text.slice(0, Math.max(0, slash));
  const rest = text.slice(slash + 1);
  if (host === "" || rest === "") {
    return [invalidField(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = subdomainName(host).map((problem) => invalidField(path, host, problem));
  if (!new RegExp(`^${HTTP_PATH}$`).test(rest)) {
    errors.push(invalidField(path, rest, regexMessage("Invalid path", HTTP_PATH)));
  }
  return errors;
}

function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes = 0 } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined) errors.push(requiredField(`${path}.completions`, "when completion mode is Indexed"));
  if (parallelism > MAX_PARALLELISM) {
    const text = `must be less than or equal to ${MAX_PARALLELISM} when completion mode is Indexed`;
    errors.push(invalidField(`${path}.parallelism`, parallelism, text));
  }
  if (completions !== undefined && maxFailedIndexes > completions) {
    const text = "must be less than or equal to completions";
    errors.push(invalidField(`${path}.maxFailedIndexes`, maxFailedIndexes, text));
  }
  if (maxFailedIndexes > MAX_FAILED_INDEXES) {
    const text = `must be less than or equal to ${MAX_FAILED_INDEXES}`;
    errors.push(invalidField(`${path}.maxFailedIndexes`, maxFailedIndexes, text));
  }
  if ((completions ?? 0) > MANY_COMPLETIONS && spec.backoffLimitPerIndex !== undefined) {
    addAll(errors, validateManyCompletions(spec, path));
  }
  return errors;
}

function validateManyCompletions({ parallelism = 0, maxFailedIndexes }: JobSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (maxFailedIndexes === undefined) {
    const text = `must be specified when completions is above ${MANY_COMPLETIONS}`;
    errors.push(requiredField(`${path}.maxFailedIndexes`, text));
  }
  const atMost = (limit: number) =>
    `must be less than or equal to ${limit} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (parallelism > MAX_PARALLELISM_WITH_MANY) {
    errors.push(invalidField(`${path}.parallelism`, parallelism, atMost(MAX_PARALLELISM_WITH_MANY)));
  }
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_FAILED_WITH_MANY) {
    errors.push(invalidField(`${path}.maxFailedIndexes`, maxFailedIndexes, atMost(MAX_FAILED_WITH_MANY)));
  }
  return errors;
}

function validateReplacement({ podReplacementPolicy, podFailurePolicy }: JobSpec, path: string): FieldError[] {
  if (podReplacementPolicy === undefined) return [];
  const allowed = podFailurePolicy ? ["Failed"] : REPLACEMENTS;
  return allowed.includes(podReplacementPolicy) ? [] : [notSupportedField(path, podReplacementPolicy, allowed)];
}

const ENDING = ["OnFailure", "Never"];

function validateRestart({ template, podFailurePolicy }: JobSpec, path: string): FieldError[] {
  const { restartPolicy = "" } = template?.spec ?? {};
  if (restartPolicy === "" || restartPolicy === "Always") {
    return [requiredField(path, `valid values: ${ENDING.map(quote).join(", ")}`)];
  }
  if (!ENDING.includes(restartPolicy)) return [notSupportedField(path, restartPolicy, ENDING)];
  if (!podFailurePolicy || restartPolicy === "Never") return [];
  return [invalidField(path, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')];
}
