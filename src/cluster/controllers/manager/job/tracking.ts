import type { Job, JobCondition, JobStatus } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { unlessCode } from "../../shared/controller.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import type { Informer } from "../../shared/informer.ts";
import type { PodControl } from "../../shared/pod-control.ts";
import { byIndex } from "./indexed-pods.ts";
import { Indexes } from "./indexes.ts";
import { newCondition, withCondition } from "./job-conditions.ts";
import { currentIndex, isFailed, isIndexed, isTracked, TRACKING_FINALIZER } from "./job-facts.ts";
import { matchFailure } from "./policies.ts";
import { hasSucceeded, type Tally } from "./tally.ts";

/** Upstream: MaxUncountedPods. Keeps the status small. */
const MAX_UNCOUNTED = 500;

/** What `Tracking` works with. */
export interface TrackingContext {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly control: PodControl;
  readonly jobs: Informer<Job>;
  readonly now: () => number;
}

/** The state of a Job that `Tracking` begins with. */
export interface TrackingStart {
  readonly status: JobStatus;
  /** Whether the status must be written in any case. */
  readonly isChanged: boolean;
  /** The condition with which the Job ends: SuccessCriteriaMet, FailureTarget or Failed. */
  readonly end: JobCondition | undefined;
}

/**
 * Counts each Pod of a Job exactly once. Ended Pods are first listed in `status.uncountedTerminatedPods`, then lose
 * their finalizer, and are then counted.
 *
 * Upstream: trackJobStatusAndRemoveFinalizers
 */
export class Tracking {
  readonly #context: TrackingContext;
  readonly #pods: readonly Pod[];
  readonly #tally: Tally;
  /** Uids of the Pods with the finalizer. */
  readonly #tracked: Set<string>;
  /** Uids that the status lists when the sync begins. */
  readonly #listed: ReadonlySet<string>;
  readonly #listedFailed: ReadonlySet<string>;
  /** Called when the status with all newly ended Pods is written. */
  readonly #onListed: () => void;
  #job: Job;
  #status: JobStatus;
  #end: JobCondition | undefined;
  #isChanged: boolean;

  constructor(
    context: TrackingContext,
    job: Job,
    { pods, tally, onListed }: { readonly pods: readonly Pod[]; readonly tally: Tally; readonly onListed: () => void },
    { status, isChanged, end }: TrackingStart,
  ) {
    this.#context = context;
    this.#job = job;
    this.#pods = isIndexed(job) ? [...pods].sort(byIndex) : pods;
    this.#tally = tally;
    this.#onListed = onListed;
    this.#tracked = new Set(pods.filter(isTracked).map(uidOf));
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
    this.#listed = new Set([...succeeded, ...failed]);
    this.#listedFailed = new Set(failed);
    this.#status = status;
    this.#isChanged = isChanged;
    this.#end = end;
  }

  async run(): Promise<void> {
    this.#count();
    const { released, isAll } = this.#list();
    this.#noteEnd();
    if (this.#isChanged) {
      await this.#write();
      this.#onListed();
    }
    await this.#release(released);
    const end = isAll && this.#isDone() ? this.#end : undefined;
    if (end) this.#finish(end);
    const before = this.#job;
    if (this.#isChanged) await this.#write();
    if (end) this.#recordEnd(before, end);
  }

  /** Lists Pods that have ended. Returns those whose finalizers can go, and whether all fit. */
  #list(): { released: Pod[]; isAll: boolean } {
    const { succeeded = [], failed = [] } = this.#status.uncountedTerminatedPods ?? {};
    const lists = { succeeded: [...succeeded], failed: [...failed] };
    const newIndexes: number[] = [];
    const released: Pod[] = [];
    let isAll = true;
    for (const pod of this.#pods) {
      if (!isTracked(pod) || !this.#mayRelease(pod)) continue;
      released.push(pod);
      this.#listPod(pod, lists, newIndexes);
      if (newIndexes.length + lists.succeeded.length + lists.failed.length >= MAX_UNCOUNTED) {
        isAll = false;
        break;
      }
    }
    if (lists.succeeded.length + lists.failed.length > succeeded.length + failed.length) this.#isChanged = true;
    this.#setUncounted(lists);
    this.#noteIndexes(newIndexes);
    return { released, isAll };
  }

  /** A failed Pod stays until it is replaced if the failure count of its index is in its annotations. */
  #mayRelease(pod: Pod): boolean {
    if (this.#job.metadata.deletionTimestamp !== undefined || this.#end !== undefined || hasSucceeded(pod)) return true;
    if (!isFailed(pod, this.#job)) return false;
    const index = currentIndex(pod, this.#job);
    const waiting = index === undefined ? undefined : this.#tally.indexes?.replaced.get(index);
    return waiting === undefined || uidOf(waiting) !== uidOf(pod);
  }

  #listPod(pod: Pod, lists: { succeeded: string[]; failed: string[] }, newIndexes: number[]): void {
    const uid = uidOf(pod);
    const index = isIndexed(this.#job) ? currentIndex(pod, this.#job) : undefined;
    const isCountable = !isIndexed(this.#job) || index !== undefined;
    if (hasSucceeded(pod) && !this.#listedFailed.has(uid)) {
      if (!isCountable) return;
      // Succeeded indexes are in the status already, and need no list.
      if (index === undefined) {
        if (!this.#listed.has(uid)) lists.succeeded.push(uid);
      } else if (!this.#tally.indexes?.succeededBefore.has(index)) newIndexes.push(index);
    } else if (isFailed(pod, this.#job) || this.#failsAll()) {
      const isNew = isCountable && !this.#listedFailed.has(uid);
      if (isNew && matchFailure(this.#job, pod).counts) lists.failed.push(uid);
    }
  }

  /** All Pods that still run when a Job fails count as failed. */
  #failsAll(): boolean {
    return this.#end !== undefined && this.#end.type !== "SuccessCriteriaMet";
  }

  #noteIndexes(newIndexes: readonly number[]): void {
    const { indexes } = this.#tally;
    if (indexes === undefined) return;
    const succeeded = indexes.succeeded.with(Indexes.of(newIndexes));
    const completedIndexes = `${succeeded}`;
    const failedIndexes = indexes.failed === undefined ? undefined : `${indexes.failed}`;
    const { failedIndexes: failedBefore, ...status } = this.#status;
    const isSame = (status.completedIndexes ?? "") === completedIndexes && failedBefore === failedIndexes;
    if (!isSame || newIndexes.length > 0) this.#isChanged = true;
    this.#status = {
      ...status,
      succeeded: succeeded.size,
      completedIndexes,
      ...(failedIndexes !== undefined && { failedIndexes }),
    };
  }

  /** Adds the interim condition of a Job that ends, and prepares the final one. */
  #noteEnd(): void {
    const end = this.#end;
    if (end === undefined || end.type === "Failed") return;
    const { conditions = [] } = this.#status;
    if (!conditions.some(({ type, status }) => type === end.type && status === "True")) {
      this.#status = { ...this.#status, conditions: [...conditions, end] };
      this.#isChanged = true;
    }
    this.#end = newCondition(end.type === "FailureTarget" ? "Failed" : "Complete", end, this.#context.now());
  }

  /** Removes the finalizers and counts these Pods. */
  async #release(pods: readonly Pod[]): Promise<void> {
    const { control } = this.#context;
    const results = await Promise.allSettled(
      pods.map(async (pod) => {
        await control.removeFinalizer(pod, TRACKING_FINALIZER).catch(unlessCode(404));
        this.#tracked.delete(uidOf(pod));
      }),
    );
    this.#count();
    const failed = results.find((result) => result.status === "rejected");
    if (failed === undefined) return;
    if (this.#isChanged) await this.#write();
    throw failed.reason;
  }

  /** Counts the listed Pods that have lost their finalizer. */
  #count(): void {
    const { succeeded = [], failed = [] } = this.#status.uncountedTerminatedPods ?? {};
    const left = {
      succeeded: succeeded.filter((uid) => this.#tracked.has(uid)),
      failed: failed.filter((uid) => this.#tracked.has(uid)),
    };
    const counts = { succeeded: succeeded.length - left.succeeded.length, failed: failed.length - left.failed.length };
    if (counts.succeeded + counts.failed === 0) return;
    this.#status = {
      ...this.#status,
      succeeded: (this.#status.succeeded ?? 0) + counts.succeeded,
      failed: (this.#status.failed ?? 0) + counts.failed,
    };
    this.#setUncounted(left);
    this.#isChanged = true;
  }

  #setUncounted({ succeeded, failed }: { succeeded: string[]; failed: string[] }): void {
    const uncountedTerminatedPods = {
      ...(succeeded.length > 0 && { succeeded }),
      ...(failed.length > 0 && { failed }),
    };
    this.#status = { ...this.#status, uncountedTerminatedPods };
  }

  /** Whether all Pods are counted and gone. */
  #isDone(): boolean {
    const { succeeded = [], failed = [] } = this.#status.uncountedTerminatedPods ?? {};
    return succeeded.length + failed.length + (this.#status.terminating ?? 0) === 0;
  }

  #finish(end: JobCondition): void {
    const { lastTransitionTime } = end;
    const conditions = withCondition(this.#status.conditions ?? [], newCondition(end.type, end, this.#context.now()));
    const isComplete = end.type === "Complete" && lastTransitionTime !== undefined;
    this.#status = { ...this.#status, conditions, ...(isComplete && { completionTime: lastTransitionTime }) };
    this.#isChanged = true;
  }

  #recordEnd(job: Job, { type, reason = "", message = "" }: JobCondition): void {
    const { recorder, jobs } = this.#context;
    const { completions } = job.spec;
    if (type !== "Complete") {
      recorder.record(jobs.resource, job, "Warning", reason, message);
      return;
    }
    if (completions !== undefined && (this.#status.succeeded ?? 0) > completions) {
      const text = "Too many succeeded pods running after completion count reached";
      recorder.record(jobs.resource, job, "Warning", "TooManySucceededPods", text);
    }
    recorder.record(jobs.resource, job, "Normal", "Completed", "Job completed");
  }

  async #write(): Promise<void> {
    const { client, jobs } = this.#context;
    const object = { ...this.#job, status: withoutZeros(this.#status) };
    const written = await client.update(jobs.resource, object, { subresource: "status" });
    await jobs.sees(written.metadata.resourceVersion);
    this.#job = written as Job;
    this.#isChanged = false;
  }
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? "";

/** Go omits these members if they are empty. */
function withoutZeros({ active, succeeded, failed, completedIndexes, ...status }: JobStatus): JobStatus {
  return {
    ...status,
    ...(active && { active }),
    ...(succeeded && { succeeded }),
    ...(failed && { failed }),
    ...(completedIndexes && { completedIndexes }),
  };
}
