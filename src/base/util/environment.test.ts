import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "./clock.ts";
import { drivenEnvironment, ManualClock } from "./environment.suite.ts";
import { systemRandom } from "./random.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

suite("ManualClock", () => {
  test("fires timers in order of time, including those set by other timers", async () => {
    const clock = new ManualClock(1000);
    const calls: string[] = [];
    const note = (name: string) => () => void calls.push(`${name} ${clock.now()}`);
    clock.setTimer(30, note("late"));
    clock.setTimer(10, () => clock.setTimer(5, note("nested")));
    const interval = clock.setInterval(12, note("every"));
    clock.setTimer(1, note("never")).close();
    await clock.advance(29);
    assert.deepEqual(calls, ["every 1012", "nested 1015", "every 1024"]);
    interval.close();
    await clock.advance(1);
    assert.deepEqual([calls.at(-1), clock.now(), clock.monotonic()], ["late 1030", 1030, 30]);
    assert.equal(clock.timerCount, 0);
  });

  test("advances through consecutive sleeps of one function", async () => {
    const clock = new ManualClock();
    const passed: number[] = [];
    const walk = async () => {
      for (let step = 0; step < 3; step += 1) {
        await clock.sleep(100);
        passed.push(clock.monotonic());
      }
    };
    void walk();
    await clock.advance(250);
    assert.deepEqual(passed, [100, 200]);
    await clock.advance(50);
    assert.deepEqual(passed, [100, 200, 300]);
  });

  test("setting the wall clock does not change the monotonic time", async () => {
    const clock = new ManualClock(5000);
    await clock.advance(10);
    clock.set(1_000_000);
    assert.deepEqual([clock.now(), clock.monotonic()], [1_000_000, 10]);
  });
});

for (const [name, clock] of [["the machine's", systemClock] as const, ["a driven one", new ManualClock()] as const]) {
  test(`a sleep on ${name} ends with its signal and leaves no listener behind`, async () => {
    const stop = new AbortController();
    const sleeping = clock.sleep(3_600_000, stop.signal);
    stop.abort();
    await sleeping;
    await clock.sleep(3_600_000, stop.signal);
  });
}

test("random numbers depend only on the seed", () => {
  const draw = (seed: number) => {
    const { random } = drivenEnvironment(seed);
    return [random.uuid(), random.integer(1000), random.fraction(), ...random.bytes(3)];
  };
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  for (const random of [drivenEnvironment().random, systemRandom]) {
    assert.match(random.uuid(), UUID);
    for (let i = 0; i < 100; i += 1) assert.ok(random.integer(3) < 3 && random.fraction() < 1);
  }
});
