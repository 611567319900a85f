import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { NamespaceView } from "./cluster-view.ts";
import { hasEnded, JOBS, type Job, randomJobSpec } from "./jobs.ts";
import { type Action, mergeStep, pathOf, type Step, type WorkloadKind, type World } from "./steps.ts";
import { changeAction, deleteAction, holdAction, isKept } from "./workload-actions.ts";

const COLLECTION = { kind: "CronJob", root: "/apis/batch/v1", plural: "cronjobs" };
const DAY_SECONDS = 86_400;

/** Their times are days apart: Jobs start because a time was missed. The third has no times. */
const SCHEDULES = [
  ...["@monthly", "@yearly", "0 0 31 2 *", "30 6 1,15 * *", "0 0 29 2 *", "45 2 */9 3,10,11 *"],
  ...["5 4 1-7 * 1", "@every 4380h", "0 12 10 */2 *"],
];
const ZONES = ["Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Etc/UTC", null];
const POLICIES = ["Allow", "Forbid", "Replace"];
/** The longest is shorter than the interval of `@every`, whose times would depend on that of the sync. */
const DEADLINES = [60, 10 * DAY_SECONDS, 100 * DAY_SECONDS, null];
/** With the largest, monthly times are missed too often. */
const DAYS_AGO = [0, 20, 70, 400, 6000];

const CHANGES: readonly JsonObject[] = [
  ...[true, false].map((suspend) => ({ spec: { suspend } })),
  ...POLICIES.map((concurrencyPolicy) => ({ spec: { concurrencyPolicy } })),
  ...DEADLINES.map((startingDeadlineSeconds) => ({ spec: { startingDeadlineSeconds } })),
  ...[0, 1, 3].map((successfulJobsHistoryLimit) => ({ spec: { successfulJobsHistoryLimit } })),
  ...[0, 1, 3].map((failedJobsHistoryLimit) => ({ spec: { failedJobsHistoryLimit } })),
  { spec: { jobTemplate: { metadata: { labels: { stage: "test" }, annotations: { "example.com/note": "a" } } } } },
  { metadata: { labels: { stage: "test" } } },
];
/** The controller sees them only at the next time, or with another change. */
const TIMES: readonly JsonObject[] = [
  ...SCHEDULES.map((schedule) => ({ spec: { schedule } })),
  ...ZONES.map((timeZone) => ({ spec: { timeZone } })),
];
const JOB_CHANGES: readonly JsonObject[] = [
  ...[true, false].map((suspend) => ({ spec: { suspend } })),
  { spec: { activeDeadlineSeconds: 1 } },
  { metadata: { ownerReferences: null } },
];

interface CronJob extends KubeObject {
  readonly status?: JsonObject & { readonly active?: readonly { readonly name: string }[] };
}

/** Midnight of a day. */
function daysAgo(days: number): string {
  const day = new Date(Date.now() - days * DAY_SECONDS * 1000).toISOString().slice(0, 10);
  return `${day}T00:00:00Z`;
}

/** Moves the time since when a Job may be due. */
const moveLastTime: Action<CronJob> = {
  weight: 8,
  plan(world, { metadata }) {
    const lastScheduleTime = world.random.chance(0.1) ? null : daysAgo(world.random.pick(DAYS_AGO));
    const path = `${pathOf(world, COLLECTION, metadata.name)}/status`;
    return {
      title: `set lastScheduleTime of CronJob ${metadata.name} to ${lastScheduleTime}`,
      requests: () => [
        { method: "PATCH", path, body: { status: { lastScheduleTime } }, type: "application/merge-patch+json" },
      ],
    };
  },
};

/** Changes or deletes a Job of the CronJob. */
const touchJob: Action<CronJob> = {
  weight: 3,
  plan(world, target) {
    const jobs = jobsOf(target, world.view);
    if (jobs.length === 0) return undefined;
    const job = world.random.pick(jobs);
    if (world.random.chance(0.4)) return deleteAction(JOBS.collection).plan(world, job);
    return mergeStep(world, "change", JOBS.collection, job, world.random.pick(JOB_CHANGES));
  },
};

/** Creates a Job that the CronJob did not create but controls. */
const addJob: Action<CronJob> = {
  weight: 0.5,
  plan(world, { metadata: { name = "" } }): Step {
    const job = { metadata: { name: `${name}-job${world.nextNumber()}` }, spec: randomJobSpec(world, name) };
    const owner = { apiVersion: "batch/v1", kind: COLLECTION.kind, name, controller: true };
    return {
      title: `create Job ${JSON.stringify(job)} of CronJob ${name}`,
      requests: ({ view }) => {
        const ownerReferences = [{ ...owner, uid: view.get(COLLECTION.kind, name)?.metadata.uid }];
        const body = { ...job, metadata: { ...job.metadata, ownerReferences } };
        return [{ method: "POST", path: pathOf(world, JOBS.collection), body }];
      },
    };
  },
};

function jobsOf({ metadata }: CronJob, view: NamespaceView): Job[] {
  return (view.of("Job") as Job[])
    .filter((job) => job.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

function jobTemplateOf(world: World, name: string): JsonObject {
  return {
    ...(world.random.chance(0.3) && { metadata: { labels: { part: "job" } } }),
    spec: randomJobSpec(world, name),
  };
}

/** CronJobs. */
export const CRON_JOBS: WorkloadKind<CronJob> = {
  collection: COLLECTION,
  controllers: ["cronjob-controller", "job-controller"],
  components: ["cronjob-controller"],
  eventRules: {
    // Every sync records them again.
    ...{ InvalidSchedule: "presence", JobAlreadyActive: "presence" },
    ...{ TooManyMissedTimes: "presence", UnexpectedJob: "presence" },
    // The real program records them again if its cache does not show its last write of `status.active` yet. With
    // `--both-real`, 3 of 100 sequences differed in MissingJob.
    ...{ MissingJob: "ignored", SawCompletedJob: "presence" },
  },
  create: (world, name) => {
    const { random } = world;
    return {
      spec: {
        schedule: random.pick(SCHEDULES),
        jobTemplate: jobTemplateOf(world, name),
        concurrencyPolicy: random.pick(POLICIES),
        ...(random.chance(0.2) && { suspend: true }),
        ...(random.chance(0.4) && { timeZone: random.pick(ZONES) }),
        ...(random.chance(0.3) && { startingDeadlineSeconds: random.pick(DEADLINES) }),
        ...(random.chance(0.3) && { successfulJobsHistoryLimit: random.below(3) }),
        ...(random.chance(0.3) && { failedJobsHistoryLimit: random.below(3) }),
      },
    };
  },
  actions: [
    moveLastTime,
    changeAction(COLLECTION, 6, CHANGES),
    changeAction(COLLECTION, 4, TIMES),
    touchJob,
    addJob,
    {
      weight: 2,
      plan(world, target) {
        const jobTemplate = jobTemplateOf(world, target.metadata.name ?? "");
        const path = pathOf(world, COLLECTION, target.metadata.name);
        return {
          title: `replace the template of CronJob ${target.metadata.name} by ${JSON.stringify(jobTemplate)}`,
          requests: () => [
            {
              method: "PATCH",
              path,
              body: [{ op: "replace", path: "/spec/jobTemplate", value: jobTemplate }],
              type: "application/json-patch+json",
            },
          ],
        };
      },
    },
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
  ],
  isSettled: (object, view) => {
    if (object.metadata.deletionTimestamp !== undefined) return isKept(object);
    const isActive = (name: string) => {
      const job = view.get("Job", name) as Job | undefined;
      return job !== undefined && !hasEnded(job);
    };
    return (object.status?.active ?? []).every(({ name }) => isActive(name));
  },
};
