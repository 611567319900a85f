import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { before, suite, test } from "node:test";
import { buildGoProgram } from "../../../../../test/support/go-program.ts";
import { fc } from "../../../../../test/support/random.ts";
import { needs } from "../../../../../test/support/tools.ts";
import { parseSchedule } from "../../../../kinds/built-in/batch/cron-schedule.ts";
import { nextTime } from "./next-time.ts";

const root = path.join(import.meta.dirname, "../../../../..");
const COUNT = 4;
const ZONES = [
  ...["", "TZ=UTC ", "TZ=Europe/Berlin ", "CRON_TZ=America/New_York ", "TZ=Australia/Lord_Howe "],
  ...["TZ=Asia/Kathmandu ", "TZ=America/Havana ", "TZ=Asia/Beirut ", "TZ=Pacific/Chatham ", "TZ=Africa/Cairo "],
];

interface Case {
  readonly schedule: string;
  readonly after: number;
  readonly count: number;
}

function field(min: number, max: number): fc.Arbitrary<string> {
  const number = fc.integer({ min, max }).map(String);
  const range = fc.tuple(number, number).map(([one, other]) => `${one}-${other}`);
  const step = fc.tuple(fc.oneof(number, range, fc.constant("*")), fc.integer({ min: 1, max: 20 }));
  const part = fc.oneof(
    number,
    range,
    step.map(([base, size]) => `${base}/${size}`),
    fc.constantFrom("*", "?"),
  );
  return fc.oneof(
    fc.constant("*"),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(",")),
  );
}

const fields = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((texts) => texts.join(" "));
const nicknames = fc.constantFrom("@yearly", "@monthly", "@weekly", "@daily", "@hourly", "@every 90m", "@every 1.7s");
const cases: fc.Arbitrary<Case> = fc.record({
  schedule: fc
    .tuple(fc.constantFrom(...ZONES), fc.oneof({ weight: 9, arbitrary: fields }, nicknames))
    .map((texts) => texts.join("")),
  after: fc.integer({ min: Date.UTC(2020), max: Date.UTC(2026) }),
  count: fc.constant(COUNT),
});

/** Every hour of the days around changes of the clocks, because random times miss them. */
function aroundChanges(): Case[] {
  const days = [Date.UTC(2024, 2, 9), Date.UTC(2024, 2, 30), Date.UTC(2024, 9, 26), Date.UTC(2024, 10, 2)];
  const schedules = ["30 2 * * *", "0 0 * * *", "15 * * * *", "0 1,3 * * 0", "0 0 1 * *"];
  return days.flatMap((day) =>
    Array.from({ length: 60 }, (_, hour) => day + hour * 3_600_000).flatMap((after) =>
      ZONES.flatMap((zone) => schedules.map((schedule) => ({ schedule: `${zone}${schedule}`, after, count: COUNT }))),
    ),
  );
}

function answerTo({ schedule, after, count }: Case): object {
  const parsed = parseSchedule(schedule);
  if (typeof parsed === "string") return { problem: parsed, times: [] };
  const times: number[] = [];
  for (let at = nextTime(parsed, after); at !== undefined && times.length < count; at = nextTime(parsed, at)) {
    times.push(at);
  }
  return { times };
}

suite("times of CronJobs equal those of kube-controller-manager", needs("go"), () => {
  let program = "";
  before(async () => {
    program = await buildGoProgram(path.join(root, "tools/kubernetes/cron-times"));
  });

  const compare = (all: readonly Case[]) => {
    const input = all.map((one) => JSON.stringify(one)).join("\n");
    const { status, stdout, stderr } = spawnSync(program, { input, env: { TZ: "UTC" }, maxBuffer: 2 ** 30 });
    assert.equal(status, 0, stderr.toString());
    const answers: object[] = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const [index, one] of all.entries()) assert.deepEqual(answerTo(one), answers[index], JSON.stringify(one));
  };

  test("for random schedules", () => compare(fc.sample(cases, 3000)));

  test("when clocks are changed", () => compare(aroundChanges()));
});
