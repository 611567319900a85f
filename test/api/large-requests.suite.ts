import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Config } from "../../src/programs/server/config.ts";
import { comparable, LargeServer } from "./large-servers.ts";
import { largeSteps, type Step } from "./large-steps.ts";

/** The stores of two servers, and their cleanup. */
export interface TwoStores {
  readonly one: Partial<Config>;
  readonly other: Partial<Config>;
  stop(): Promise<void>;
}

/** The steps to send, if not the usual ones, and setup of both servers. */
export interface LargeRequestsOptions {
  readonly skip?: string;
  readonly steps?: readonly Step[];
  readonly prepare?: (server: LargeServer) => Promise<void>;
}

/** Large requests get the same responses from another thread as from the main thread, with any store. */
export function testLargeRequests(
  store: string,
  open: () => Promise<TwoStores>,
  { steps = largeSteps, prepare, ...options }: LargeRequestsOptions = {},
): void {
  suite(`large requests on ${store}`, { ...options }, () => {
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
      for (const server of [here, elsewhere]) await prepare?.(server);
    });
    after(async () => {
      await here?.close();
      await elsewhere?.close();
      await stores?.stop();
    });

    for (const { body, staysHere = false, status, ...step } of steps) {
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

    test("there were no errors", () => {
      assert.deepEqual(
        [...here.lines, ...elsewhere.lines].filter(({ level }) => level === "error"),
        [],
      );
    });
  });
}
