import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { isChanged, memberOf, warnOfName } from "../apps/workload.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";
import { nonNegative } from "../shared-rules/numbers.ts";
import { scheduleProblem } from "./cron-schedule.ts";
import { prepareJobSpec, setJobTemplateDefaults, warnOfJobSpec } from "./job.ts";
import { validateJobSpec } from "./job-spec-validation.ts";
import type { CronJobSpec, JobSpec } from "./job-types.ts";
import { looksLikeTimeZone, timeZoneProblem } from "./time-zone.ts";

/** Defaults of a CronJob. */
export const cronJobDefaults: Defaults = {
  "spec.concurrencyPolicy": "Allow",
  "spec.suspend": false,
  "spec.successfulJobsHistoryLimit": 3,
  "spec.failedJobsHistoryLimit": 1,
};

const MAX_NAME_LENGTH = 52;

function jobSpecOf(cronJob: KubeObject | undefined): JobSpec {
  return memberOf<JobSpec>(memberOf<CronJobSpec>(cronJob, "spec").jobTemplate, "spec");
}

function validateSchedule(schedule: string, timeZone: string | undefined, before: string | undefined): FieldError[] {
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [invalidField("spec.schedule", schedule, problem)];
  if (!schedule.includes("TZ")) return errors;
  if (!before?.includes("TZ")) {
    const text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
    errors.push(invalidField("spec.schedule", schedule, text));
  } else if (timeZone !== undefined) {
    const text = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
    errors.push(invalidField("spec.schedule", schedule, text));
  }
  return errors;
}

function validateTimeZone(timeZone: string | undefined): FieldError[] {
  if (timeZone === undefined) return [];
  const invalid = (text: string) => invalidField("spec.timeZone", timeZone, text);
  if (timeZone === "") return [invalid("timeZone must be nil or non-empty string")];
  if (!looksLikeTimeZone(timeZone)) return [invalid(`unknown time zone ${timeZone}`)];
  const errors: FieldError[] = [];
  if (timeZone.toLowerCase() === "local") {
    errors.push(invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  }
  const problem = timeZoneProblem(timeZone);
  return problem === undefined ? errors : [...errors, invalid(problem)];
}

const CONCURRENCY = ["Allow", "Forbid", "Replace"];

function validateSpec(spec: CronJobSpec, before: CronJobSpec | undefined, features: FeatureGates): FieldError[] {
  const { schedule = "", timeZone, concurrencyPolicy = "" } = spec;
  const errors = schedule === "" ? [] : validateSchedule(schedule, timeZone, before?.schedule);
  addAll(errors, nonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds"));
  if (!before || before.timeZone !== timeZone) addAll(errors, validateTimeZone(timeZone));
  if (concurrencyPolicy === "") errors.push(requiredField("spec.concurrencyPolicy"));
  else if (!CONCURRENCY.includes(concurrencyPolicy)) {
    errors.push(notSupportedField("spec.concurrencyPolicy", concurrencyPolicy, CONCURRENCY));
  }
  const job = memberOf<JobSpec>(spec.jobTemplate, "spec");
  const oldJob = before && memberOf<JobSpec>(before.jobTemplate, "spec");
  addAll(errors, validateJobTemplate(job, "spec.jobTemplate.spec", oldJob, features));
  for (const member of ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]) {
    addAll(errors, nonNegative(spec[member], `spec.${member}`));
  }
  return errors;
}

function validateJobTemplate(
  job: JobSpec,
  path: string,
  before: JobSpec | undefined,
  features: FeatureGates,
): FieldError[] {
  const errors = validateJobSpec(job, path, before, features);
  if (isObject(job.selector)) {
    errors.push(invalidField(`${path}.selector`, orderedSelector(job.selector), "`selector` will be auto-generated"));
  }
  if (job.manualSelector === true) errors.push(notSupportedField(`${path}.manualSelector`, true, ["nil", "false"]));
  return errors;
}

const ZONE_WARNING =
  "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

/** CronJob: creates Jobs on a schedule. */
export const cronJobHooks: ResourceHooks = {
  setDefaults: (cronJob) => setJobTemplateDefaults(jobSpecOf(cronJob)),
  prepare: (next, previous, context) => prepareJobSpec(jobSpecOf(next), previous && jobSpecOf(previous), context),
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return [];
    const spec = memberOf<CronJobSpec>(next, "spec");
    const errors = validateSpec(spec, previous && memberOf<CronJobSpec>(previous, "spec"), features);
    const { name = "" } = next.metadata;
    if (!previous && name.length > MAX_NAME_LENGTH) {
      errors.push(invalidField("metadata.name", name, `must be no more than ${MAX_NAME_LENGTH} characters`));
    }
    // Compat: declarative validation checks that `spec.schedule` is set, after all other errors.
    if ((spec.schedule ?? "") === "") errors.push(requiredField("spec.schedule"));
    return errors;
  },
  warn(next, previous, { subresource }) {
    if (subresource === "status") return [];
    const path = "spec.jobTemplate.spec";
    if (!previous) return [...warnOfName(next), ...warnOfJobSpec(jobSpecOf(next), path)];
    const { schedule = "" } = memberOf<CronJobSpec>(next, "spec");
    return [
      ...(isChanged(next, previous) ? warnOfJobSpec(jobSpecOf(next), path) : []),
      ...(schedule.includes("TZ") ? [ZONE_WARNING] : []),
    ];
  },
};
