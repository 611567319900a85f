import { isDeepStrictEqual } from "node:util";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { claimObjects } from "../../shared/claim.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { orphanKey, ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerOf, findController, possibleControllers } from "../../shared/owners.ts";
import { PodControl } from "../../shared/pod-control.ts";
import { endOf, isManagedElsewhere, isTracked, TRACKING_FINALIZER } from "./job-facts.ts";
import { BATCH_MS } from "./job-pods.ts";
import { syncJob } from "./job-sync.ts";
import type { BackoffRecord } from "./pod-backoff.ts";

const NAME = "job-controller";
/** Upstream: DefaultJobApiBackOff and MaxJobApiBackOff. */
const RETRIES = { minBackoffMs: 1000, maxBackoffMs: 60_000 };
const WORKERS = 5;

/** job-controller: runs the Pods of Jobs until enough have succeeded or too many have failed. */
export function jobs(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: all, byNamespace } = informers.of<Job>("batch", "jobs");
  const { informer: pods, byOwner: podsByOwner } = informers.of<Pod>("", "pods");
  const { resource } = all;
  const recorder = new EventRecorder(context, NAME);
  const control = new PodControl({ client, recorder, pods, ownerResource: resource });
  const backoffs = new Map<string, BackoffRecord>();
  const sync = { client, recorder, control, jobs: all, pods, backoffs, now: () => clock.now() };

  const selectorOf = ({ spec }: Job) => readSelectorObject(spec.selector);

  /** A changed spec is synced at once, other changes together with those of Pods. */
  const observeJob =
    (queue: Queue): Observer<Job> =>
    (before, after) => {
      const job = after ?? before;
      if (job === undefined) return;
      if (after === undefined || endOf(after)) backoffs.delete(keyOf(job));
      else if (before?.metadata.generation === after.metadata.generation) queue.addAfter(keyOf(after), BATCH_MS);
      else queue.add(keyOf(after));
    };

  /** Adds the Jobs that a Pod concerns: its owner, or for an orphan those that could adopt it. */
  const observePod =
    (queue: Queue): Observer<Pod> =>
    (before, after) => {
      for (const owner of [findController(all, before), findController(all, after)]) {
        if (owner) queue.addAfter(keyOf(owner), BATCH_MS);
      }
      if (after === undefined || controllerOf(after) || after.metadata.deletionTimestamp !== undefined) return;
      const isSame =
        before && !controllerOf(before) && isDeepStrictEqual(before.metadata.labels, after.metadata.labels);
      if (isSame) return;
      const candidates = byNamespace.get(after.metadata.namespace ?? "");
      for (const job of possibleControllers(candidates, selectorOf, after)) queue.addAfter(keyOf(job), BATCH_MS);
    };

  const reconcile = loop({
    name: NAME,
    workers: WORKERS,
    clock,
    report,
    retries: RETRIES,
    sources: [source(all, observeJob), source(pods, observePod)],
    async sync(key, queue) {
      const job = all.get(key);
      const selector = job && selectorOf(job);
      if (job === undefined || selector === undefined || isManagedElsewhere(job) || endOf(job)) return;
      const { namespace, uid } = job.metadata;
      const candidates = [...podsByOwner.get(ownedKey(uid)), ...podsByOwner.get(orphanKey(namespace))];
      const finalizer = TRACKING_FINALIZER;
      const claim = { resources, client, ownerResource: resource, owner: job, selector, informer: pods, finalizer };
      const claimed = await claimObjects(claim, candidates);
      // An adopted Pod has got the finalizer.
      const known = claimed.map((pod) => pods.get(keyOf(pod)) ?? pod);
      // The Job may be gone.
      const againMs = (await syncJob(sync, job, known).catch(unlessCode(404))) ?? undefined;
      if (againMs !== undefined) queue.addAfter(key, againMs);
    },
  });

  const releaseOrphans = loop({
    name: NAME,
    workers: WORKERS,
    clock,
    report,
    retries: RETRIES,
    sources: [
      source(all, (queue) => (before, after) => {
        const ended = after && endOf(after) ? after : after === undefined ? before : undefined;
        if (ended === undefined) return;
        for (const pod of podsByOwner.get(ownedKey(ended.metadata.uid))) if (isTracked(pod)) queue.add(keyOf(pod));
      }),
      source(pods, (queue) => (_, after) => {
        if (after && isTracked(after) && (!controllerOf(after) || after.metadata.deletionTimestamp !== undefined)) {
          queue.add(keyOf(after));
        }
      }),
    ],
    async sync(key) {
      const pod = pods.get(key);
      if (pod === undefined || !isTracked(pod)) return;
      const reference = controllerOf(pod);
      if (reference && (reference.kind !== "Job" || reference.apiVersion !== resource.apiVersion)) return;
      const job = findController(all, pod);
      // An unfinished Job still has to count the Pod.
      if (job && (isManagedElsewhere(job) || !endOf(job))) return;
      await control.removeFinalizer(pod, TRACKING_FINALIZER).catch(unlessCode(404));
    },
  });

  return {
    name: NAME,
    run: async (signal) => void (await Promise.all([reconcile.run(signal), releaseOrphans.run(signal)])),
  };
}
