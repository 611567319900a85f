import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Config } from "../../src/server/config.ts";
import { comparable, LargeServer } from "./large-servers.ts";
import { largeSteps } from "./large-steps.ts";

/** Where two servers keep their objects, and how that comes to an end. */
export interface TwoStores {
  readonly one: Partial<Config>;
  readonly other: Partial<Config>;
  stop(): Promise<void>;
}

/** Large requests get the same answers from another thread as from the server's own, over any store. */
export function testLargeRequests(
  store: string,
  open: () => Promise<TwoStores>,
  options: { skip?: string } = {},
): void {
  suite(`large requests on ${store}`, { timeout: 240_000, ...options }, () => {
    let stores: TwoStores;
    let here: LargeServer;
    let elsewhere: LargeServer;
    let previous: Readonly<Record<"here" | "elsewhere", Buffer>> = {
      here: Buffer.alloc(0),
      elsewhere: Buffer.alloc(0),
    };

    before(async () => {
      stores = await open();
      here = await LargeServer.start({ ...stores.one, maxInlineBytes: 0 });
      elsewhere = await LargeServer.start(stores.other);
    });
    after(async () => {
      await here?.close();
      await elsewhere?.close();
      await stores?.stop();
    });

    for (const { body, staysHere = false, status, ...step } of largeSteps) {
      test(step.title, async () => {
        const before = await elsewhere.metric("binnacle_offloaded_requests_total");
        const bodyFrom = (last: Buffer) => (typeof body === "function" ? body(last) : body);
        const expected = await here.send({ ...step, body: bodyFrom(previous.here) });
        const actual = await elsewhere.send({ ...step, body: bodyFrom(previous.elsewhere) });
        previous = { here: expected.body, elsewhere: actual.body };
        assert.deepEqual(comparable(actual), comparable(expected));
        assert.equal(actual.status, status, actual.body.toString("latin1", 0, 300));
        const after = await elsewhere.metric("binnacle_offloaded_requests_total");
        assert.equal(after - before, staysHere ? 0 : 1, "whether it was carried out by another thread");
      });
    }

    test("nothing went wrong on the way", () => {
      assert.deepEqual(
        [...here.lines, ...elsewhere.lines].filter(({ level }) => level === "error"),
        [],
      );
    });
  });
}
