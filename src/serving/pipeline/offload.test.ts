import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Call, Handler } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { currentMeter } from "../../base/util/meter.ts";
import { MAX_UNITS } from "./bound-cost.ts";
import { CostlyCalls } from "./costly-calls.ts";
import { INLINE_UNITS, type OffloadOptions, offload } from "./offload.ts";
import { TooLarge } from "./read-body.ts";

const BODY = Buffer.from("{}");
const HERE: ApiReply = { type: "raw", code: 200, headers: {}, body: "here" };
const FULL: ApiReply = { type: "raw", code: 429, headers: {}, body: "full" };
const THERE: ApiReply = { type: "raw", code: 200, headers: {}, body: "there" };

/** Handles calls by a stage, and records which ran on the other thread. */
class Fixture {
  readonly clock = new ManualClock();
  readonly moved: (Uint8Array | undefined)[] = [];
  isMovable = true;
  declaredBytes = 2;
  readonly #costly = new CostlyCalls(this.clock);

  handle(next: Handler, { verb = "create", user = "alice" } = {}): Promise<ApiReply> | ApiReply {
    const info = { verb, group: "", resource: "configmaps", subresource: "", name: "", isResource: true };
    const request = { readBody: async () => BODY, headers: { "content-length": String(this.declaredBytes) } };
    const call = { info, request, warnings: [], user: { name: user, groups: [] } } as unknown as Call;
    const options: OffloadOptions = {
      hasLargeQuery: () => false,
      isLargeObject: () => false,
      isMovable: () => this.isMovable,
      costly: this.#costly,
      isUnstructured: () => false,
      kindOf: () => undefined,
      reject: (_, bytes) => (bytes > 1000 ? FULL : undefined),
      carryOut: async (_, body) => {
        this.moved.push(body);
        return THERE;
      },
    };
    return offload(options)(next)(call);
  }
}

const cheap: Handler = async () => {
  currentMeter().charge(INLINE_UNITS);
  return HERE;
};
const costly: Handler = async () => {
  await Promise.resolve();
  currentMeter().charge(INLINE_UNITS + 1);
  return HERE;
};

suite("the offload stage", () => {
  test("rejects a large write before its body is read if it cannot be queued", async () => {
    const fixture = new Fixture();
    fixture.declaredBytes = 1001;
    assert.equal(await fixture.handle(() => assert.fail("the call was handled")), FULL);
    assert.equal(await fixture.handle(async () => HERE, { verb: "get" }), HERE);
    assert.deepEqual(fixture.moved, []);
  });

  test("moves a write that uses up its meter, with its body", async () => {
    const fixture = new Fixture();
    assert.equal(await fixture.handle(cheap), HERE);
    assert.equal(await fixture.handle(costly), THERE);
    assert.deepEqual(fixture.moved, [BODY]);
  });

  test("moves further writes of that user and resource at once, for ten seconds", async () => {
    const fixture = new Fixture();
    await fixture.handle(costly);
    assert.equal(await fixture.handle(cheap), THERE);
    assert.equal(await fixture.handle(cheap, { user: "bob" }), HERE);
    assert.equal(await fixture.handle(cheap, { verb: "get" }).valueOf(), HERE);
    await fixture.clock.advance(10_000);
    assert.equal(await fixture.handle(cheap), HERE);
  });

  test("does not remember a write with a large body", async () => {
    const fixture = new Fixture();
    const large: Handler = async () => {
      throw new TooLarge();
    };
    assert.equal(await fixture.handle(large), THERE);
    assert.equal(await fixture.handle(cheap), HERE);
  });

  test("ends a write that cannot move with 504 after about 5 s of work", async () => {
    const fixture = new Fixture();
    fixture.isMovable = false;
    assert.equal(await fixture.handle(costly), HERE);
    const endless: Handler = async () => {
      for (;;) currentMeter().charge(INLINE_UNITS);
    };
    await assert.rejects(async () => fixture.handle(endless), { code: 504 });
    assert.deepEqual(fixture.moved, []);
  });

  test("does not limit lists and watches, which give way by themselves", async () => {
    const fixture = new Fixture();
    fixture.isMovable = false;
    const long: Handler = async () => {
      currentMeter().charge(2 * MAX_UNITS);
      return HERE;
    };
    assert.equal(await fixture.handle(long, { verb: "list" }), HERE);
    assert.equal(await fixture.handle(long, { verb: "watch" }), HERE);
  });
});
