import type { KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { ActiveJob, CronJob, CronJobStatus, Job } from "../../../../kinds/built-in/batch/job-types.ts";
import { timeZoneProblem } from "../../../../kinds/built-in/batch/time-zone.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { isNamespaceTerminating, isStatus, messageOf } from "../../shared/controller.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import type { Informer } from "../../shared/informer.ts";
import { compare } from "../../shared/order.ts";
import { controllerOf, controllerReference } from "../../shared/owners.ts";
import { endOf } from "../job/job-facts.ts";
import { isTooManyMissed, lastDue, namesZone, scheduleOf, untilNextMs } from "./cron-times.ts";
import { zoneNamed } from "./zone.ts";

const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const ZONE_HINT = "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

/** What a sync works with. */
export interface CronSyncContext {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly cronJobs: Informer<CronJob>;
  readonly jobs: Informer<Job>;
  readonly now: () => number;
}

/** One sync of a CronJob with the Jobs that it controls. */
export class CronSync {
  readonly #context: CronSyncContext;
  readonly #cronJob: CronJob;
  readonly #jobs: readonly Job[];
  #status: CronJobStatus;
  #isChanged = false;

  constructor(context: CronSyncContext, cronJob: CronJob, jobs: readonly Job[]) {
    this.#context = context;
    this.#cronJob = cronJob;
    this.#jobs = jobs;
    this.#status = cronJob.status ?? {};
  }

  /** Syncs. Returns the milliseconds after which the next sync is due. Undefined if nothing is scheduled. */
  async run(): Promise<number | undefined> {
    await this.#cleanUp();
    this.#followJobs();
    this.#forgetMissing();
    try {
      return await this.#schedule();
    } finally {
      if (this.#isChanged) await this.#write();
    }
  }

  get #active(): ActiveJob[] {
    return this.#status.active ?? [];
  }

  #record(type: "Normal" | "Warning", reason: string, message: string): void {
    const { recorder, cronJobs } = this.#context;
    recorder.record(cronJobs.resource, this.#cronJob, type, reason, message);
  }

  #update(change: CronJobStatus): void {
    this.#status = { ...this.#status, ...change };
    this.#isChanged = true;
  }

  /** Deletes the oldest Jobs that have ended, except as many as the history may hold. */
  async #cleanUp(): Promise<void> {
    const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = this.#cronJob.spec;
    const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit };
    for (const [type, limit] of Object.entries(limits)) {
      if (limit === undefined) continue;
      const ended = this.#jobs.filter((job) => endOf(job)?.type === type).sort(byStart);
      for (const job of ended.slice(0, Math.max(0, ended.length - limit))) await this.#delete(job);
    }
  }

  /** Deletes a Job. Returns whether that has worked. */
  async #delete(job: Job): Promise<boolean> {
    const { client, jobs } = this.#context;
    const { namespace = "", name = "", uid } = job.metadata;
    try {
      await client.delete(jobs.resource, { namespace, name }, { propagationPolicy: "Background" });
    } catch (error) {
      this.#record("Warning", "FailedDelete", `Deleted job: ${messageOf(error)}`);
      return false;
    }
    this.#forget(uid);
    this.#record("Normal", "SuccessfulDelete", `Deleted job ${name}`);
    await jobs.changes(job);
    return true;
  }

  #forget(uid: string | undefined): void {
    this.#update({ active: this.#active.filter((one) => one.uid !== uid) });
  }

  /** Notes Jobs that have ended. */
  #followJobs(): void {
    const active = new Set(this.#active.map(({ uid }) => uid));
    for (const job of this.#jobs) {
      const { name, uid } = job.metadata;
      const isKnown = active.has(uid);
      const end = endOf(job);
      if (end === undefined) {
        const message = `Saw a job that the controller did not create or forgot: ${name}`;
        if (!isKnown) this.#record("Warning", "UnexpectedJob", message);
        continue;
      }
      if (isKnown) {
        this.#forget(uid);
        this.#record("Normal", "SawCompletedJob", `Saw completed job: ${name}, condition: ${end.type}`);
      }
      const { completionTime } = job.status ?? {};
      const { lastSuccessfulTime = "" } = this.#status;
      // Times of one form compare like texts.
      if (end.type === "Complete" && completionTime !== undefined && completionTime > lastSuccessfulTime) {
        this.#update({ lastSuccessfulTime: completionTime });
      }
    }
  }

  /** Drops active Jobs that do not exist. */
  #forgetMissing(): void {
    const known = new Set(this.#jobs.map(({ metadata }) => metadata.uid));
    for (const { uid, namespace, name } of this.#active) {
      if (known.has(uid) || this.#context.jobs.get(`${namespace}/${name}`)) continue;
      this.#record("Normal", "MissingJob", `Active job went missing: ${name}`);
      this.#forget(uid);
    }
  }

  /** Creates the Job that is due. */
  async #schedule(): Promise<number | undefined> {
    const { metadata, spec } = this.#cronJob;
    if (metadata.deletionTimestamp !== undefined) return undefined;
    const problem = spec.timeZone === undefined ? undefined : timeZoneProblem(spec.timeZone);
    if (problem !== undefined) {
      this.#record("Warning", "UnknownTimeZone", `invalid timeZone: ${quote(spec.timeZone ?? "")}: ${problem}`);
      return undefined;
    }
    if (spec.suspend) return undefined;
    const text = spec.schedule ?? "";
    if (namesZone(this.#cronJob)) {
      const message = `CRON_TZ or TZ used in schedule ${quote(text)} is not officially supported, ${ZONE_HINT}`;
      this.#record("Warning", "UnsupportedSchedule", message);
    }
    const schedule = scheduleOf(this.#cronJob);
    if (typeof schedule === "string") {
      this.#record("Warning", "UnparseableSchedule", `unparseable schedule: ${quote(text)} : ${schedule}`);
      return undefined;
    }
    const nowMs = this.#context.now();
    const due = lastDue(this.#cronJob, schedule, nowMs, { usesDeadline: true });
    if (typeof due === "string") {
      this.#record("Warning", "InvalidSchedule", `invalid schedule: ${text} : ${due}`);
      return undefined;
    }
    if (due.atMs !== undefined) {
      if (isTooManyMissed(due)) {
        const hint = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
        this.#record("Warning", "TooManyMissedTimes", `too many missed start times. ${hint}`);
      }
      if (this.#mayStart(due.atMs) && !(await this.#start(due.atMs))) return undefined;
    }
    return untilNextMs({ ...this.#cronJob, status: this.#status }, schedule, nowMs);
  }

  /** Whether a Job starts now for this time. */
  #mayStart(atMs: number): boolean {
    const { concurrencyPolicy } = this.#cronJob.spec;
    const name = this.#nameAt(atMs);
    const isDone = this.#status.lastScheduleTime === printTime(atMs);
    if (isDone || this.#active.some((one) => one.name === name)) return false;
    if (concurrencyPolicy !== "Forbid" || this.#active.length === 0) return true;
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    this.#record("Normal", "JobAlreadyActive", message);
    return false;
  }

  /** The time in minutes is in the name, so that no Job is created twice. */
  #nameAt(atMs: number): string {
    return `${this.#cronJob.metadata.name}-${Math.trunc(atMs / 60_000)}`;
  }

  /** Creates the Job of a time. Returns false if another one has its name. */
  async #start(atMs: number): Promise<boolean> {
    if (this.#cronJob.spec.concurrencyPolicy === "Replace") await this.#replace();
    const job = await this.#create(atMs);
    if (job === undefined) return false;
    const { namespace, name, uid, resourceVersion } = job.metadata;
    const { apiVersion, definition } = this.#context.jobs.resource;
    const reference = { kind: definition.kind, namespace, name, uid, apiVersion, resourceVersion };
    this.#update({ active: [...this.#active, reference], lastScheduleTime: printTime(atMs) });
    return true;
  }

  async #replace(): Promise<void> {
    for (const { namespace, name } of this.#active) {
      const job = this.#context.jobs.get(`${namespace}/${name}`);
      if (job && !(await this.#delete(job))) throw new Error(`could not replace job ${namespace}/${name}`);
    }
  }

  async #create(atMs: number): Promise<KubeObject | undefined> {
    const { client, jobs } = this.#context;
    const wanted = this.#jobAt(atMs);
    try {
      const created = await client.create(jobs.resource, wanted);
      this.#record("Normal", "SuccessfulCreate", `Created job ${created.metadata.name}`);
      await jobs.sees(created.metadata.resourceVersion);
      return created;
    } catch (error) {
      // The status was not written after the Job was created.
      if (isStatus(error, 409)) return this.#ownJob(this.#nameAt(atMs));
      if (!isNamespaceTerminating(error)) {
        this.#record("Warning", "FailedCreate", `Error creating job: ${messageOf(error)}`);
      }
      throw error;
    }
  }

  #ownJob(name: string): Job | undefined {
    const { namespace, uid } = this.#cronJob.metadata;
    const job = this.#context.jobs.get(`${namespace}/${name}`);
    return job && controllerOf(job)?.uid === uid ? job : undefined;
  }

  #jobAt(atMs: number): KubeObject {
    const { cronJobs, jobs } = this.#context;
    const { namespace } = this.#cronJob.metadata;
    const { jobTemplate = {}, timeZone = "UTC" } = this.#cronJob.spec;
    const { labels, annotations } = jobTemplate.metadata ?? {};
    return {
      kind: jobs.resource.definition.kind,
      apiVersion: jobs.resource.apiVersion,
      metadata: {
        name: this.#nameAt(atMs),
        ...(namespace !== undefined && { namespace }),
        ...(labels && { labels: { ...labels } }),
        annotations: { ...annotations, [SCHEDULED_AT]: zoneNamed(timeZone).print(atMs / 1000) },
        ownerReferences: [controllerReference(cronJobs.resource, this.#cronJob)],
      },
      spec: cloneJson(jobTemplate.spec ?? {}),
    };
  }

  async #write(): Promise<void> {
    const { client, cronJobs } = this.#context;
    const { active, ...status } = this.#status;
    const object = { ...this.#cronJob, status: { ...status, ...(active && active.length > 0 && { active }) } };
    const written = await client.update(cronJobs.resource, object, { subresource: "status" });
    await cronJobs.sees(written.metadata.resourceVersion);
  }
}

/** Jobs that have started earlier first, those that have not last. Names decide among equals. */
function byStart(one: Job, other: Job): number {
  const [start, otherStart] = [one.status?.startTime ?? "~", other.status?.startTime ?? "~"];
  return compare(start, otherStart) || compare(one.metadata.name, other.metadata.name);
}
