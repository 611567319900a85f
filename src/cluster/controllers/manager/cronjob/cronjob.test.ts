import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import { ManualClock } from "../../../../base/util/environment.suite.ts";
import type { CronJob, Job } from "../../../../kinds/built-in/batch/job-types.ts";
import { JobCluster, jobSpec } from "../job/job.suite.ts";
import { jobs } from "../job/job.ts";
import { cronJobs } from "./cronjob.ts";

const START = Date.UTC(2026, 0, 5, 10, 0, 30);
const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const nameAt = (minute: number) => `tick-${Date.UTC(2026, 0, 5, 10, minute) / 60_000}`;

suite("cronjob-controller", () => {
  let cluster: JobCluster;

  beforeEach(() => {
    cluster = new JobCluster(new ManualClock(START));
    cluster.start(cronJobs(cluster), jobs(cluster));
  });
  afterEach(() => cluster.end());

  const post = (more: JsonObject = {}, template: JsonObject = {}) =>
    cluster.post("cronjobs", "tick", { schedule: "* * * * *", jobTemplate: { spec: jobSpec(), ...template }, ...more });
  const find = async () => (await cluster.find("cronjobs", "tick")) as CronJob;
  const status = async () => (await find()).status ?? {};
  const jobNames = async () => (await cluster.list<Job>("jobs")).map(({ metadata }) => metadata.name);
  const hasJobs = (...names: string[]) =>
    cluster.pass(async () => JSON.stringify(await jobNames()) === JSON.stringify(names));
  const hasNews = async (line: string) => {
    await cluster.pass(async () => (await cluster.news("tick")).includes(line));
  };
  const succeedAll = async () => {
    for (const pod of await cluster.activePods()) await cluster.succeed(pod);
  };

  test("creates a Job on schedule and follows it", async () => {
    const labels = { team: "a" };
    const { uid = "" } = (await post({}, { metadata: { labels, annotations: { note: "x" } } })).metadata;
    await cluster.wait(29);
    assert.deepEqual(await jobNames(), []);
    await hasJobs(nameAt(1));
    const [job] = await cluster.list<Job>("jobs");
    assert.ok(job);
    assert.equal(job.metadata.labels?.team, "a");
    assert.deepEqual(job.metadata.annotations, { note: "x", [SCHEDULED_AT]: "2026-01-05T10:01:00Z" });
    const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid };
    assert.deepEqual(job.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    await cluster.pass(async () => (await status()).lastScheduleTime !== undefined);
    const { active = [], lastScheduleTime, lastSuccessfulTime } = await status();
    assert.equal(lastScheduleTime, "2026-01-05T10:01:00Z");
    assert.equal(lastSuccessfulTime, undefined);
    const { resourceVersion, ...reference } = active[0] ?? {};
    assert.match(resourceVersion ?? "", /^\d+$/);
    const { name, uid: jobUid } = job.metadata;
    assert.deepEqual(reference, { kind: "Job", namespace: "default", name, uid: jobUid, apiVersion: "batch/v1" });
    await cluster.hasActive(1);
    await succeedAll();
    await cluster.pass(async () => (await status()).active === undefined);
    assert.equal((await status()).lastSuccessfulTime, (await cluster.status(nameAt(1))).completionTime);
    await hasNews(`Normal SawCompletedJob: Saw completed job: ${nameAt(1)}, condition: Complete`);
    assert.deepEqual(await cluster.news("tick"), [
      `Normal SuccessfulCreate: Created job ${nameAt(1)}`,
      `Normal SawCompletedJob: Saw completed job: ${nameAt(1)}, condition: Complete`,
    ]);
  });

  test("schedules in the time zone of the CronJob", async () => {
    await post({ schedule: "2 15 * * *", timeZone: "Asia/Kathmandu" });
    await cluster.clock.advance(20 * 60_000);
    // 09:17 UTC is over.
    assert.deepEqual(await jobNames(), []);
    await cluster.patch("cronjobs", "tick", { spec: { schedule: "10 16 * * *" } });
    await cluster.clock.advance(250_000);
    await hasJobs(nameAt(25));
    const [job] = await cluster.list<Job>("jobs");
    assert.equal(job?.metadata.annotations?.[SCHEDULED_AT], "2026-01-05T16:10:00+05:45");
  });

  test("runs Jobs at the same time with the policy Allow", async () => {
    await post();
    await hasJobs(nameAt(1), nameAt(2));
    await cluster.pass(async () => (await status()).active?.length === 2);
  });

  test("waits for the last Job with the policy Forbid", async () => {
    await post({ concurrencyPolicy: "Forbid" });
    await hasJobs(nameAt(1));
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    await hasNews(`Normal JobAlreadyActive: ${message}`);
    assert.deepEqual(await jobNames(), [nameAt(1)]);
    await succeedAll();
    await hasJobs(nameAt(1), nameAt(2));
    assert.equal((await status()).lastScheduleTime, "2026-01-05T10:02:00Z");
  });

  test("deletes the last Job with the policy Replace", async () => {
    await post({ concurrencyPolicy: "Replace" });
    await hasJobs(nameAt(1));
    await hasJobs(nameAt(2));
    await hasNews(`Normal SuccessfulDelete: Deleted job ${nameAt(1)}`);
    await cluster.pass(async () => (await status()).active?.[0]?.name === nameAt(2));
    assert.equal((await status()).active?.length, 1);
  });

  test("does not start Jobs while it is suspended, and starts one for the missed times afterwards", async () => {
    await post({ suspend: true });
    await cluster.wait(200);
    assert.deepEqual(await jobNames(), []);
    await cluster.patch("cronjobs", "tick", { spec: { suspend: false } });
    await hasJobs(nameAt(3));
  });

  test("skips a time after startingDeadlineSeconds", async () => {
    await post({ schedule: "*/10 * * * *", startingDeadlineSeconds: 60, suspend: true });
    await cluster.clock.advance(10 * 60_000 + 50_000);
    await cluster.patch("cronjobs", "tick", { spec: { suspend: false } });
    await cluster.clock.advance(500_000);
    await hasJobs(nameAt(20));
  });

  test("warns when more than 100 times were missed, and starts the last one", async () => {
    await post({ suspend: true });
    await cluster.clock.advance(102 * 60_000);
    await cluster.patch("cronjobs", "tick", { spec: { suspend: false } });
    await hasJobs(nameAt(102));
    const hint = "Set or decrease .spec.startingDeadlineSeconds or check clock skew";
    await hasNews(`Warning TooManyMissedTimes: too many missed start times. ${hint}`);
  });

  test("keeps as many ended Jobs as the history may hold", async () => {
    await post({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }, { spec: jobSpec({ backoffLimit: 0 }) });
    for (const minute of [1, 2]) {
      await cluster.pass(async () => (await jobNames()).includes(nameAt(minute)));
      await cluster.hasActive(1);
      await succeedAll();
      await hasNews(`Normal SawCompletedJob: Saw completed job: ${nameAt(minute)}, condition: Complete`);
    }
    await hasNews(`Normal SuccessfulDelete: Deleted job ${nameAt(1)}`);
    await hasJobs(nameAt(2), nameAt(3));
    const [pod] = await cluster.hasActive(1);
    assert.ok(pod);
    await cluster.endPod(pod);
    await hasNews(`Normal SuccessfulDelete: Deleted job ${nameAt(3)}`);
  });

  test("notes active Jobs that are gone, and Jobs that it did not create", async () => {
    const { uid = "" } = (await post({ schedule: "0 * * * *" })).metadata;
    const reference = { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid, controller: true };
    await cluster.post("jobs", "stray", jobSpec(), { ownerReferences: [reference] });
    await hasNews("Warning UnexpectedJob: Saw a job that the controller did not create or forgot: stray");
    await cluster.delete("jobs", "stray", { propagationPolicy: "Background" });
    await cluster.clock.advance(60 * 60_000);
    const name = `tick-${Date.UTC(2026, 0, 5, 11) / 60_000}`;
    await hasJobs(name);
    await cluster.pass(async () => (await status()).active?.length === 1);
    await cluster.delete("jobs", name, { propagationPolicy: "Background" });
    await hasNews(`Normal MissingJob: Active job went missing: ${name}`);
    await cluster.pass(async () => (await status()).active === undefined);
  });

  /** Writes a spec that the API rejects today, as an older version may have stored it. */
  const store = async (spec: JsonObject) => {
    const key = { namespace: "default", name: "tick" };
    const storeKey = cluster.resources.keys.key(cluster.resource("cronjobs").definition, key);
    const entry = await cluster.store.get(storeKey);
    assert.ok(entry);
    const before = cluster.resources.codec.read(entry) as CronJob;
    const value = cluster.resources.codec.write({ ...before, spec: { ...before.spec, ...spec } });
    await cluster.store.put(storeKey, value, entry.modRevision);
  };

  test("reports stored schedules and time zones that it cannot use", async () => {
    await post({ schedule: "@hourly" });
    await store({ schedule: "sometimes" });
    await hasNews("Warning UnParseableCronJobSchedule: unparseable schedule for cronjob: sometimes");
    await store({ failedJobsHistoryLimit: 5 });
    const problem = "expected exactly 5 fields, found 1: [sometimes]";
    await hasNews(`Warning UnparseableSchedule: unparseable schedule: "sometimes" : ${problem}`);
    await store({ schedule: "@hourly", timeZone: "Mars/Base" });
    await cluster.clock.advance(3_600_000);
    await hasNews('Warning UnknownTimeZone: invalid timeZone: "Mars/Base": unknown time zone Mars/Base');
    assert.deepEqual(await jobNames(), []);
  });

  test("warns about a time zone in the schedule, and uses it", async () => {
    await post({ schedule: "@yearly" });
    await store({ schedule: "TZ=Asia/Kathmandu 10 16 * * *" });
    await cluster.clock.advance(1_500_000);
    await hasJobs(nameAt(25));
    const [job] = await cluster.list<Job>("jobs");
    assert.equal(job?.metadata.annotations?.[SCHEDULED_AT], "2026-01-05T10:25:00Z");
    const hint = "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
    const text = `CRON_TZ or TZ used in schedule "TZ=Asia/Kathmandu 10 16 * * *" is not officially supported, ${hint}`;
    await hasNews(`Warning UnsupportedSchedule: ${text}`);
  });

  test("reports a schedule without times", async () => {
    await post({ schedule: "0 0 31 2 *" });
    const problem = "time difference between two schedules is less than 1 second";
    await hasNews(`Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : ${problem}`);
  });
});
