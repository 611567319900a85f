import { duplicateField, type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { memberOf } from "../apps/workload.ts";
import { isConditionTrue } from "../cells.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { IMMUTABLE, sameValue } from "../shared-rules/immutable.ts";
import { nonNegativeMembers } from "../shared-rules/numbers.ts";
import { UNCOUNTED_PODS } from "./go-shapes.ts";
import { countIndexes, firstCommonIndex } from "./index-intervals.ts";
import type { JobSpec, JobStatus } from "./job-types.ts";

/** A Job with its parts. */
interface View {
  readonly job: KubeObject;
  readonly spec: JobSpec;
  readonly status: JobStatus;
  is(condition: string): boolean;
  readonly isFinished: boolean;
}

function view(job: KubeObject): View {
  const is = (condition: string) => isConditionTrue(job, condition);
  return {
    job,
    spec: memberOf<JobSpec>(job, "spec"),
    status: memberOf<JobStatus>(job, "status"),
    is,
    isFinished: is("Complete") || is("Failed"),
  };
}

/** Compat: errors on `status.conditions` of a Job have `field.OmitValueType`, so no value follows "Invalid value". */
function conditions(detail: string): FieldError {
  return { type: "FieldValueInvalid", field: "status.conditions", message: `Invalid value: ${detail}` };
}

/**
 * Validates a status update of a Job. Compat: as with upstream's `JobStatusValidationOptions`, most rules only apply to
 * changes, so that a status that was already invalid can still be written.
 */
export function validateJobStatus(next: KubeObject, previous: KubeObject): FieldError[] {
  const now = view(next);
  const before = view(previous);
  return [
    ...nonNegativeMembers(now.status, "status", ["active", "succeeded", "failed", "ready", "terminating"]),
    ...validateUncounted(now.status),
    ...validateEnd(now, before),
    ...validateFinished(now, before),
    ...validateIndexes(now, before),
    ...validateCounters(now, before),
    ...validateSuccess(now),
    ...validateTransition(now, before),
  ];
}

function validateUncounted({ uncountedTerminatedPods: pods = {} }: JobStatus): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const member of ["succeeded", "failed"] as const) {
    for (const [index, uid] of (pods[member] ?? []).entries()) {
      const path = `status.uncountedTerminatedPods.${member}[${index}]`;
      if (uid === "") errors.push(invalidField(path, uid, "must not be empty"));
      else if (seen.has(uid)) errors.push(duplicateField(path, uid));
      seen.add(uid);
    }
  }
  return errors;
}

/** Validates what the conditions Complete and Failed exclude or require. */
function validateEnd(now: View, before: View): FieldError[] {
  const errors: FieldError[] = [];
  const changed = (condition: string) => now.is(condition) !== before.is(condition);
  const { startTime, completionTime } = now.status;
  const isTimeChanged = completionTime !== before.status.completionTime;
  const isComplete = now.is("Complete");
  if ((changed("Complete") || changed("Failed")) && isComplete && now.is("Failed")) {
    errors.push(conditions("cannot set Complete=True and Failed=true conditions"));
  }
  if ((changed("Complete") || changed("FailureTarget")) && isComplete && now.is("FailureTarget")) {
    errors.push(conditions("cannot set Complete=True and FailureTarget=true conditions"));
  }
  if (changed("Complete") || isTimeChanged) {
    if (completionTime !== undefined && !isComplete) {
      const text = "cannot set completionTime when there is no Complete=True condition";
      errors.push(invalidField("status.completionTime", completionTime, text));
    }
    if (completionTime === undefined && isComplete) {
      errors.push(requiredField("status.completionTime", "completionTime is required for Complete jobs"));
    }
  }
  const isStartChanged = startTime !== before.status.startTime;
  if ((isStartChanged || isTimeChanged) && startTime !== undefined && completionTime !== undefined) {
    if (Date.parse(completionTime) < Date.parse(startTime)) {
      errors.push(invalidField("status.completionTime", completionTime, "must be equal to or after `startTime`"));
    }
  }
  const isFailedChanged = changed("Failed") || now.status.failedIndexes !== before.status.failedIndexes;
  if (isFailedChanged && now.is("Failed") && !now.is("FailureTarget")) {
    errors.push(conditions("cannot set Failed=True condition without the FailureTarget=true condition"));
  }
  if ((changed("Complete") || changed("SuccessCriteriaMet")) && isComplete && !now.is("SuccessCriteriaMet")) {
    errors.push(conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"));
  }
  return errors;
}

function validateFinished(now: View, before: View): FieldError[] {
  if (!now.isFinished) return [];
  const errors: FieldError[] = [];
  const { active = 0, startTime, uncountedTerminatedPods: pods } = now.status;
  const isNew = !before.isFinished;
  if (active > 0 && (isNew || active !== (before.status.active ?? 0))) {
    errors.push(invalidField("status.active", active, "active>0 is invalid for finished job"));
  }
  const isEmptySuspended = now.spec.suspend === true && now.spec.completions === 0;
  if (startTime === undefined && (isNew || before.status.startTime !== undefined) && !isEmptySuspended) {
    errors.push(requiredField("status.startTime", "startTime is required for finished job"));
  }
  const isPending = (pods?.succeeded?.length ?? 0) + (pods?.failed?.length ?? 0) > 0;
  if (isPending && (isNew || !sameValue(pods, before.status.uncountedTerminatedPods))) {
    const shown = asGo(pods, UNCOUNTED_PODS);
    errors.push(invalidField("status.uncountedTerminatedPods", shown, "must be empty for finished job"));
  }
  return errors;
}

function validateIndexes(now: View, before: View): FieldError[] {
  const errors: FieldError[] = [];
  const { completedIndexes = "", failedIndexes } = now.status;
  const { completions, backoffLimitPerIndex, completionMode } = now.spec;
  const isCompletedChanged = completedIndexes !== (before.status.completedIndexes ?? "");
  const isFailedChanged = failedIndexes !== before.status.failedIndexes;
  const check = (member: string, text: string) => {
    const { problem } = countIndexes(text, completions ?? 0);
    if (problem === undefined) return;
    errors.push(invalidField(`status.${member}`, text, `error parsing ${member}: ${problem}`));
  };
  if (isCompletedChanged && completions !== undefined) check("completedIndexes", completedIndexes);
  if (isFailedChanged && completions !== undefined && backoffLimitPerIndex !== undefined) {
    check("failedIndexes", failedIndexes ?? "");
  }
  if (isCompletedChanged && completedIndexes !== "" && completionMode !== "Indexed") {
    const text = "cannot set non-empty completedIndexes when non-indexed completion mode";
    errors.push(invalidField("status.completedIndexes", completedIndexes, text));
  }
  if (isFailedChanged && failedIndexes !== undefined && backoffLimitPerIndex === undefined) {
    const text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
    errors.push(invalidField("status.failedIndexes", failedIndexes, text));
  }
  if ((isCompletedChanged || isFailedChanged) && failedIndexes !== undefined && completions !== undefined) {
    const index = firstCommonIndex(completedIndexes, failedIndexes, completions);
    const text = `failedIndexes and completedIndexes overlap at index: ${index}`;
    if (index !== undefined) errors.push(invalidField("status.failedIndexes", failedIndexes, text));
  }
  return errors;
}

function validateCounters(now: View, before: View): FieldError[] {
  const errors: FieldError[] = [];
  const { terminating, ready, active = 0 } = now.status;
  const isNew = now.isFinished !== before.isFinished;
  if (now.isFinished && (terminating ?? 0) > 0 && (isNew || terminating !== before.status.terminating)) {
    errors.push(invalidField("status.terminating", terminating, "terminating>0 is invalid for finished job"));
  }
  const isChanged = ready !== before.status.ready || active !== (before.status.active ?? 0);
  if (isChanged && ready !== undefined && ready > active) {
    errors.push(invalidField("status.ready", ready, "cannot set more ready pods than active"));
  }
  return errors;
}

function validateSuccess({ spec, is }: View): FieldError[] {
  const errors: FieldError[] = [];
  const isMet = is("SuccessCriteriaMet");
  if (isMet && is("Failed")) errors.push(conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions"));
  if (isMet && is("FailureTarget")) {
    errors.push(conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
  }
  if (spec.successPolicy && !isMet && is("Complete")) {
    errors.push(conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"));
  }
  return errors;
}

function validateTransition(now: View, before: View): FieldError[] {
  const errors: FieldError[] = [];
  for (const type of ["Failed", "Complete", "FailureTarget"]) {
    if (before.is(type) && !now.is(type)) errors.push(conditions(`cannot disable the terminal ${type}=True condition`));
  }
  const { completionMode, completions, parallelism } = now.spec;
  const isElastic = completionMode === "Indexed" && completions === parallelism;
  for (const member of isElastic ? (["failed"] as const) : (["failed", "succeeded"] as const)) {
    const count = now.status[member] ?? 0;
    if (count < (before.status[member] ?? 0)) {
      errors.push(invalidField(`status.${member}`, count, `cannot decrease the ${member} counter`));
    }
  }
  addAll(errors, validateTimes(now, before));
  if (before.is("SuccessCriteriaMet") && !now.is("SuccessCriteriaMet")) {
    errors.push(conditions("cannot disable the SuccessCriteriaMet=True condition"));
  }
  if (before.is("Complete") && !before.is("SuccessCriteriaMet") && now.is("SuccessCriteriaMet")) {
    errors.push(conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"));
  }
  return errors;
}

function validateTimes(now: View, before: View): FieldError[] {
  const errors: FieldError[] = [];
  const { startTime, completionTime, conditions: listed = [] } = now.status;
  const old = before.status;
  if (completionTime !== undefined && old.completionTime !== undefined && completionTime !== old.completionTime) {
    errors.push(invalidField("status.completionTime", completionTime, IMMUTABLE));
  }
  const isResuming =
    before.is("Suspended") && listed.some(({ type, status }) => type === "Suspended" && status === "False");
  if (old.startTime !== undefined && startTime !== old.startTime && now.spec.suspend !== true && !isResuming) {
    const text = "field is immutable for unsuspended job once set";
    errors.push(invalidField("status.startTime", startTime ?? null, text));
  }
  return errors;
}
