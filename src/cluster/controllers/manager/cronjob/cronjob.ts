import type { CronJob, Job } from "../../../../kinds/built-in/batch/job-types.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { ownedKey } from "../../shared/informers.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { findController } from "../../shared/owners.ts";
import { CronSync } from "./cron-sync.ts";
import { scheduleOf, untilNextMs } from "./cron-times.ts";

const NAME = "cronjob-controller";

/** cronjob-controller: creates the Jobs of CronJobs on schedule, and deletes old ones. */
export function cronJobs(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: all } = informers.of<CronJob>("batch", "cronjobs");
  const { informer: jobs, byOwner: jobsByOwner } = informers.of<Job>("batch", "jobs");
  const recorder = new EventRecorder(context, NAME);
  const sync = { client, recorder, cronJobs: all, jobs, now: () => clock.now() };

  /** After a change of the schedule, the next sync is at the next time of the new one. */
  const observeCronJob =
    (queue: Queue): Observer<CronJob> =>
    (before, after) => {
      if (after === undefined) return;
      const { schedule = "", timeZone } = after.spec;
      const isSame = before === undefined || (before.spec.schedule === schedule && before.spec.timeZone === timeZone);
      if (isSame) return queue.add(keyOf(after));
      const parsed = scheduleOf(after);
      if (typeof parsed !== "string") return queue.addAfter(keyOf(after), untilNextMs(after, parsed, clock.now()));
      const message = `unparseable schedule for cronjob: ${schedule}`;
      recorder.record(all.resource, after, "Warning", "UnParseableCronJobSchedule", message);
    };

  return loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [
      source(all, observeCronJob),
      source(jobs, (queue) => (before, after) => {
        for (const owner of [findController(all, before), findController(all, after)]) {
          if (owner) queue.add(keyOf(owner));
        }
      }),
    ],
    async sync(key, queue) {
      const cronJob = all.get(key);
      if (cronJob === undefined) return;
      const owned = [...jobsByOwner.get(ownedKey(cronJob.metadata.uid))];
      // The CronJob may be gone.
      const againMs = (await new CronSync(sync, cronJob, owned).run().catch(unlessCode(404))) ?? undefined;
      if (againMs !== undefined) queue.addAfter(key, againMs);
    },
  });
}
