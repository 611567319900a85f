import type { Job } from "../../../../kinds/built-in/batch/job-types.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { readFresh } from "../../shared/fresh.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { endOf } from "../job/job-facts.ts";

/** ttl-after-finished-controller: deletes Jobs `spec.ttlSecondsAfterFinished` after their end. */
export function ttlAfterFinished({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: jobs } = informers.of<Job>("batch", "jobs");

  return loop({
    name: "ttl-after-finished-controller",
    workers: 5,
    clock,
    report,
    sources: [
      source(jobs, (queue) => (_, after) => {
        if (after && leftMs(after, clock.now()) !== undefined) queue.add(keyOf(after));
      }),
    ],
    async sync(key, queue) {
      const known = jobs.get(key);
      if (known === undefined) return;
      const { namespace = "", name = "", uid = "" } = known.metadata;
      const knownMs = leftMs(known, clock.now());
      if (knownMs !== undefined && knownMs > 0) return queue.addAfter(key, knownMs);
      // The TTL may just have been changed.
      const fresh = knownMs === undefined ? undefined : await readFresh(resources, jobs.resource, known);
      const freshMs = fresh && leftMs(fresh as Job, clock.now());
      if (freshMs === undefined || fresh?.metadata.uid !== uid) return;
      if (freshMs > 0) return queue.addAfter(key, freshMs);
      const options = { propagationPolicy: "Foreground", preconditions: { uid } } as const;
      await client.delete(jobs.resource, { namespace, name }, options).catch(unlessCode(404));
    },
  });
}

/** Milliseconds until a Job may be deleted. Undefined if it has not ended, has no TTL, or is being deleted. */
function leftMs(job: Job, nowMs: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const endedAt = endOf(job)?.lastTransitionTime;
  if (ttlSecondsAfterFinished === undefined || endedAt === undefined || job.metadata.deletionTimestamp !== undefined) {
    return undefined;
  }
  return Date.parse(endedAt) + ttlSecondsAfterFinished * 1000 - nowMs;
}
