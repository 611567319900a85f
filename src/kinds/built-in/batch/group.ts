import { humanDuration } from "../../../base/api/human-duration.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import {
  AGE,
  age,
  column,
  containerColumns,
  count,
  isConditionTrue,
  NAME,
  optionalText,
  read,
  readNumber,
  readText,
  selector,
  text,
  wide,
} from "../cells.ts";
import { defineKinds, STATUS, selectable } from "../row.ts";
import { cronJobDefaults, cronJobHooks } from "./cron-job.ts";
import { jobDefaults, jobHooks } from "./job.ts";

function printStatus(job: KubeObject): string {
  if (isConditionTrue(job, "Complete")) return "Complete";
  if (isConditionTrue(job, "Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  const states = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
  return states.find((state) => isConditionTrue(job, state)) ?? "Running";
}

function printCompletions(job: KubeObject): string {
  const succeeded = readNumber(job, ".status.succeeded");
  const completions = read(job, ".spec.completions");
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = readNumber(job, ".spec.parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function printDuration(job: KubeObject, now: number): string {
  const start = Date.parse(readText(job, ".status.startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(readText(job, ".status.completionTime"));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}

const SUSPENDED: Readonly<Record<string, string>> = { true: "True", false: "False" };

/** The kinds of batch: Job and CronJob. */
export const batchKinds: ResourceDefinition[] = defineKinds({ group: "batch", schemaPackage: "io.k8s.api.batch" }, [
  {
    kind: "CronJob",
    plural: "cronjobs",
    shortNames: ["cj"],
    categories: ["all"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: [
      NAME,
      column("Schedule", "string", text(".spec.schedule")),
      column("Timezone", "string", optionalText(".spec.timeZone", "<none>")),
      column("Suspend", "boolean", (job) => getMember(SUSPENDED, readText(job, ".spec.suspend")) ?? "<unset>"),
      column("Active", "integer", count(".status.active")),
      column("Last Schedule", "string", age(".status.lastScheduleTime", "<none>")),
      AGE,
      ...containerColumns(".spec.jobTemplate.spec.template.spec"),
      wide("Selector", "string", selector(".spec.jobTemplate.spec.selector")),
    ],
    rules: { generation: "counted" },
    defaults: cronJobDefaults,
    hooks: cronJobHooks,
  },
  {
    kind: "Job",
    plural: "jobs",
    categories: ["all"],
    versions: ["v1"],
    subresources: { status: STATUS },
    columns: [
      NAME,
      column("Status", "string", printStatus),
      column("Completions", "string", printCompletions),
      column("Duration", "string", printDuration),
      AGE,
      ...containerColumns(".spec.template.spec"),
      wide("Selector", "string", selector(".spec.selector")),
    ],
    selectableFields: [selectable("status.successful", ".status.succeeded", "0")],
    rules: {
      generation: "counted",
      garbageCollection: "orphan",
      unknownFieldMessage: 'field label "%s" not supported for Job',
      orphanWarning:
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    },
    defaults: jobDefaults,
    hooks: jobHooks,
  },
]);
