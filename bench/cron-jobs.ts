import { startControlPlane } from "../src/testing.ts";

/**
 * Processor time of 24 hours of 100 CronJobs on a driven clock. First the cronjob-controller alone creates Jobs, then
 * all of their Pods run and succeed, and old Jobs are deleted. Arguments: a schedule, and the number of CronJobs.
 */
const [schedule = "0 * * * *", count = "100"] = process.argv.slice(2);

interface Round {
  readonly what: string;
  readonly controllers: string;
  readonly runsPods: boolean;
}

const ROUNDS: readonly Round[] = [
  { what: "cronjob-controller alone", controllers: "cronjob", runsPods: false },
  { what: "with Jobs and Pods that succeed", controllers: "*", runsPods: true },
];

type Plane = Awaited<ReturnType<typeof startControlPlane>>;

const CRON_JOBS = { apiVersion: "batch/v1", kind: "CronJob", plural: "cronjobs" };
const PODS = { apiVersion: "v1", kind: "Pod", plural: "pods" };

async function createAll(plane: Plane): Promise<void> {
  const pod = { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] };
  const jobTemplate = { spec: { template: { spec: pod } } };
  for (let index = 0; index < Number(count); index += 1) {
    await plane
      .client(CRON_JOBS)
      .create({ metadata: { name: `tick-${index}`, namespace: "default" }, spec: { schedule, jobTemplate } });
  }
}

/** Lets every Pod succeed as soon as it exists, as a kubelet would report a short program. */
function runPods(plane: Plane, ended: Set<string>): { close(): Promise<void> } {
  return plane.reconcile(PODS, async ({ metadata, ...pod }, { client }) => {
    if ((pod.status as { phase?: string } | undefined)?.phase !== "Pending" || metadata.deletionTimestamp !== undefined)
      return;
    ended.add(metadata.uid);
    await client(PODS).status.patch(metadata.name, { phase: "Succeeded" });
  });
}

for (const { what, controllers, runsPods } of ROUNDS) {
  const clock = { at: "2026-01-01T00:00:30Z" };
  await using plane = await startControlPlane({ controllers, seed: 1, clock });
  await createAll(plane);
  const ended = new Set<string>();
  const running = runsPods ? runPods(plane, ended) : undefined;
  const before = process.cpuUsage();
  await plane.clock.advance({ hours: 24 });
  const { user, system } = process.cpuUsage(before);
  const { items } = await plane.client(CRON_JOBS).list();
  const last = items
    .map(({ status }) => (status as { lastScheduleTime?: string } | undefined)?.lastScheduleTime)
    .sort()[0];
  const pods = runsPods ? `, ${ended.size} Pods` : "";
  process.stdout.write(`${what.padEnd(34)} ${((user + system) / 1e6).toFixed(2)} s${pods}, last time ${last}\n`);
  await running?.close();
}
