import type { Job, JobStatus } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { keyOf } from "../../shared/informer.ts";
import { newCondition, withCondition } from "./job-conditions.ts";
import { isSuspended } from "./job-facts.ts";
import { JobPods, type JobPodsContext } from "./job-pods.ts";
import { type BackoffRecord, nextRecord } from "./pod-backoff.ts";
import { type Tally, tallyPods } from "./tally.ts";
import { Tracking, type TrackingContext, type TrackingStart } from "./tracking.ts";
import { deadlineMs, verdict } from "./verdict.ts";

/** What a sync works with. */
export interface JobSyncContext extends JobPodsContext, TrackingContext {
  /** By the key of the Job. Lost when the controller restarts, as upstream. */
  readonly backoffs: Map<string, BackoffRecord>;
}

/**
 * Syncs a Job with the Pods that it controls. Returns the milliseconds after which another sync is due even if nothing
 * changes.
 */
export async function syncJob(context: JobSyncContext, job: Job, pods: readonly Pod[]): Promise<number | undefined> {
  const { now, backoffs, jobs } = context;
  const key = keyOf(job);
  const tally = tallyPods(job, pods);
  const backoff = nextRecord(backoffs.get(key), tally.newSucceeded, tally.newFailed);
  const started = { ...job, status: startedStatus(job, now()) };
  const own = new JobPods(context, job, pods, tally);
  const end = verdict(started, pods, tally, now());
  const leftMs = end ? undefined : deadlineMs(started, now());
  const { failure, ...outcome } = end
    ? await stop(own, { status: started.status, end })
    : await proceed(context, own, { job, status: started.status, tally, backoff });
  const onListed = () => {
    if (jobs.get(key)) backoffs.set(key, backoff);
  };
  await new Tracking(context, job, { pods, tally, onListed }, withCounts(outcome, own)).run();
  if (failure !== undefined) throw failure;
  const waitMs = Math.min(leftMs ?? Number.POSITIVE_INFINITY, own.waitMs ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(waitMs) ? waitMs : undefined;
}

interface Outcome extends TrackingStart {
  /** The first error. The status is still written. */
  readonly failure: unknown;
}

function startedStatus(job: Job, nowMs: number): JobStatus {
  const { status = {} } = job;
  const { startTime = isSuspended(job) ? undefined : printTime(nowMs), uncountedTerminatedPods = {} } = status;
  return { ...status, uncountedTerminatedPods, ...(startTime !== undefined && { startTime }) };
}

const errorOf = (promise: Promise<void>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Deletes all active Pods of a Job that ends. It cannot end while one is left. */
async function stop(own: JobPods, { status, end }: Pick<TrackingStart, "status" | "end">): Promise<Outcome> {
  const failure = await errorOf(own.deleteActive());
  return { status, isChanged: false, end: own.active === 0 ? end : undefined, failure };
}

/** Creates and deletes Pods. The Job is complete if none is active and enough have succeeded. */
async function proceed(
  context: JobSyncContext,
  own: JobPods,
  { job, status, tally, backoff }: { job: Job; status: JobStatus; tally: Tally; backoff: BackoffRecord },
): Promise<Outcome> {
  const { completions } = job.spec;
  const isLeaving = job.metadata.deletionTimestamp !== undefined;
  const failure = isLeaving ? undefined : await errorOf(own.manage(backoff));
  const isEnough = completions === undefined ? tally.succeeded > 0 : tally.succeeded >= completions;
  if (isEnough && own.active === 0) {
    const cause = { reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
    return { status, isChanged: false, end: newCondition("SuccessCriteriaMet", cause, context.now()), failure };
  }
  const suspended = isLeaving ? undefined : noteSuspension(context, job, status);
  return { status: suspended ?? status, isChanged: suspended !== undefined, end: undefined, failure };
}

/** The new status if the Job has just been suspended or resumed. */
function noteSuspension({ recorder, jobs, now }: JobSyncContext, job: Job, before: JobStatus): JobStatus | undefined {
  const { conditions = [], startTime: _, ...status } = before;
  const suspends = isSuspended(job);
  const verb = suspends ? "Suspended" : "Resumed";
  const message = `Job ${verb.toLowerCase()}`;
  const cause = { status: suspends ? "True" : "False", reason: `Job${verb}`, message };
  const next = withCondition(conditions, newCondition("Suspended", cause, now()));
  if (next === conditions) return undefined;
  recorder.record(jobs.resource, job, "Normal", verb, message);
  // The time before does not count towards activeDeadlineSeconds.
  return { ...status, conditions: next, ...(!suspends && { startTime: printTime(now()) }) };
}

function withCounts({ status, isChanged, end }: TrackingStart, { active, ready, terminating }: JobPods): TrackingStart {
  const isSame = (status.active ?? 0) === active && status.ready === ready && status.terminating === terminating;
  return { status: { ...status, active, ready, terminating }, isChanged: isChanged || !isSame, end };
}
