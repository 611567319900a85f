import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { unlessCode } from "../../shared/controller.ts";
import { type Informer, keyOf } from "../../shared/informer.ts";
import type { PodControl } from "../../shared/pod-control.ts";
import { isReady, isTerminating } from "../../shared/pods.ts";
import { slowStart } from "../../shared/slow-start.ts";
import { baseTemplate, failuresBefore, indexedPrefix, indexedTemplate, surplusPods } from "./indexed-pods.ts";
import { Indexes } from "./indexes.ts";
import { awaitsFailure, indexesOf, isIndexed, isSuspended, isTracked, TRACKING_FINALIZER } from "./job-facts.ts";
import { type BackoffRecord, finishedMs, remainingMs } from "./pod-backoff.ts";
import type { Tally } from "./tally.ts";

/** Upstream: SyncJobBatchPeriod. Changes of Pods within this time cause one sync. */
export const BATCH_MS = 1000;
/** Upstream: MaxPodCreateDeletePerSync. */
const BURST = 500;

/** What `JobPods` works with. */
export interface JobPodsContext {
  readonly control: PodControl;
  readonly pods: Informer<Pod>;
  readonly now: () => number;
}

/** Creates and deletes the Pods of a Job in one sync, and counts them. */
export class JobPods {
  readonly #context: JobPodsContext;
  readonly #job: Job;
  readonly #pods: readonly Pod[];
  readonly #tally: Tally;
  active: number;
  ready: number;
  terminating: number;
  /** Milliseconds until the next Pod may be created, if one must wait. */
  waitMs: number | undefined;

  constructor(context: JobPodsContext, job: Job, pods: readonly Pod[], tally: Tally) {
    this.#context = context;
    this.#job = job;
    this.#pods = pods;
    this.#tally = tally;
    this.active = tally.active.length;
    this.ready = tally.active.filter(isReady).length;
    this.terminating = pods.filter(isTerminating).length;
  }

  /** Deletes all active Pods of a Job that ends. Their finalizers stay until the status includes the Pods. */
  async deleteActive(): Promise<void> {
    await this.#deleteAll(this.#tally.active, (pod) => this.#delete(pod));
  }

  /** Creates or deletes Pods as the spec demands. A sync does only one of it. */
  async manage(backoff: BackoffRecord): Promise<void> {
    const { active } = this.#tally;
    const wanted = this.#wanted();
    const surplus = surplusPods(this.#job, active, Math.max(0, active.length - wanted), isIndexed(this.#job));
    if (surplus.length > 0) {
      const limit = isSuspended(this.#job) ? surplus.length : BURST;
      await this.#deleteAll(surplus.slice(0, limit), (pod) => this.#drop(pod));
      return;
    }
    const replacing = awaitsFailure(this.#job) ? this.terminating : 0;
    const missing = Math.min(wanted - replacing - active.length, BURST);
    if (missing > 0) await this.#create(missing, backoff);
  }

  /** The number of Pods that should be active. */
  #wanted(): number {
    const { parallelism = 1, completions } = this.#job.spec;
    const { succeeded, active } = this.#tally;
    if (isSuspended(this.#job)) return 0;
    if (completions !== undefined) return Math.max(0, Math.min(completions - succeeded, parallelism));
    return succeeded > 0 ? active.length : parallelism;
  }

  async #create(count: number, backoff: BackoffRecord): Promise<void> {
    const { control, now } = this.#context;
    const job = this.#job;
    const waitMs = job.spec.backoffLimitPerIndex === undefined ? remainingMs(backoff, now()) : 0;
    if (waitMs > 0) this.#wait(waitMs);
    else if (isIndexed(job)) await this.#createIndexed(this.#dueIndexes(this.#pendingIndexes(count)));
    else {
      const template = baseTemplate(job);
      await slowStart(count, async () => {
        await control.create(job, template);
        this.active += 1;
      });
    }
  }

  #wait(ms: number): void {
    this.waitMs = Math.max(ms, BATCH_MS);
  }

  async #createIndexed(indexes: readonly number[]): Promise<void> {
    const { control } = this.#context;
    const next = indexes.values();
    await slowStart(indexes.length, async () => {
      const { value: index = 0 } = next.next();
      const template = indexedTemplate(this.#job, index, this.#replaced(index));
      await control.create(this.#job, template, indexedPrefix(this.#job.metadata.name ?? "", index));
      this.active += 1;
    });
  }

  /** The first indexes without an active Pod that have not ended. */
  #pendingIndexes(count: number): number[] {
    const { succeeded = Indexes.none, failed = Indexes.none } = this.#tally.indexes ?? {};
    const leaving = awaitsFailure(this.#job) ? this.#pods.filter(isTerminating) : [];
    const taken = Indexes.of(indexesOf([...this.#tally.active, ...leaving]));
    return succeeded
      .with(failed)
      .with(taken)
      .missing(count, this.#job.spec.completions ?? 0);
  }

  /** Those whose backoff is over. With `spec.backoffLimitPerIndex` each index has its own one. */
  #dueIndexes(indexes: readonly number[]): number[] {
    const waits = indexes.map((index) => this.#waitOf(index));
    const due = indexes.filter((_, position) => waits[position] === 0);
    if (due.length === 0 && waits.length > 0) this.#wait(waits.reduce((one, other) => Math.min(one, other)));
    return due;
  }

  #waitOf(index: number): number {
    const replaced = this.#replaced(index);
    if (replaced === undefined) return 0;
    const failures = failuresBefore(replaced) + 1;
    return remainingMs({ failures, lastFailureMs: finishedMs(replaced) }, this.#context.now());
  }

  #replaced(index: number): Pod | undefined {
    return this.#tally.indexes?.replaced.get(index);
  }

  async #deleteAll(pods: readonly Pod[], remove: (pod: Pod) => Promise<void>): Promise<void> {
    const results = await Promise.allSettled(pods.map(remove));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #delete(pod: Pod): Promise<void> {
    await this.#context.control.delete(this.#job, pod);
    this.active -= 1;
    this.terminating += 1;
    if (isReady(pod)) this.ready -= 1;
  }

  /** Deletes a Pod that the status will never count. */
  async #drop(pod: Pod): Promise<void> {
    const { control, pods } = this.#context;
    if (isTracked(pod)) await control.removeFinalizer(pod, TRACKING_FINALIZER).catch(unlessCode(404));
    await this.#delete(pods.get(keyOf(pod)) ?? pod);
  }
}
