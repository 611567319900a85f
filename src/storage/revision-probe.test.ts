import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ManualClock } from "../base/util/environment.suite.ts";
import { RevisionProbe } from "./revision-probe.ts";

describe("RevisionProbe", () => {
  it("shares a request only with callers that called before it was sent", async () => {
    const questions: PromiseWithResolvers<number>[] = [];
    const probe = new RevisionProbe(() => {
      const question = Promise.withResolvers<number>();
      questions.push(question);
      return question.promise;
    }, new ManualClock());
    const first = [probe.newest(), probe.newest()];
    await turn();
    assert.equal(questions.length, 1);
    const second = [probe.newest(), probe.newest()];
    await turn();
    assert.equal(questions.length, 2, "a later caller needs a later question");
    const third = [probe.newest(), probe.newest(), probe.newest()];
    await turn();
    assert.equal(questions.length, 2, "only two at a time");
    questions[0]?.resolve(10);
    assert.deepEqual(await Promise.all(first), [10, 10]);
    await turn();
    assert.equal(questions.length, 3);
    questions[2]?.resolve(12);
    questions[1]?.resolve(11);
    assert.deepEqual(await Promise.all(third), [12, 12, 12]);
    assert.deepEqual(await Promise.all(second), [11, 11]);
  });

  it("passes a failure on and sends a new request afterwards", async () => {
    let calls = 0;
    const probe = new RevisionProbe(async () => {
      if (++calls === 1) throw new Error("not now");
      return 5;
    }, new ManualClock());
    await assert.rejects(Promise.all([probe.newest(), probe.newest()]), /not now/);
    assert.equal(await probe.newest(), 5);
  });

  it("does not wait for requests that stay unanswered", async () => {
    const clock = new ManualClock();
    const questions: PromiseWithResolvers<number>[] = [];
    const probe = new RevisionProbe(() => {
      const question = Promise.withResolvers<number>();
      questions.push(question);
      return question.promise;
    }, clock);
    for (let wave = 0; wave < 2; wave++) {
      void probe.newest();
      await turn();
    }
    const waiting = probe.newest();
    await clock.advance(999);
    assert.equal(probe.newest(), waiting);
    assert.equal(questions.length, 2);
    await clock.advance(1);
    assert.equal(probe.newest(), waiting);
    assert.equal(questions.length, 3, "asked a second after the latest question");
    const later = probe.newest();
    assert.notEqual(later, waiting);
    questions[2]?.resolve(12);
    assert.equal(await waiting, 12);
    questions[0]?.resolve(10);
    questions[1]?.resolve(11);
    await turn();
    questions[3]?.resolve(13);
    assert.equal(await later, 13);
  });
});
