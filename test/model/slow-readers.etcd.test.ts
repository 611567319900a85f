import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eventually } from "../support/time.ts";
import { needsStore } from "../support/tools.ts";
import { describeEvent, Objects } from "./objects.ts";
import { Setting } from "./servers.ts";
import { Wire, type WireEvent } from "./wire.ts";

const PATH = "/api/v1/namespaces/default/configmaps?watch=1";
const WRITES = 150;
const STALLED = 40;
const TEXT = "x".repeat(100_000);

/** Writes more than the buffers of a connection can hold, so that a client that does not read really blocks. */
async function writeMuch(objects: Objects): Promise<string[]> {
  const received = [`ADDED large ${await objects.create("large", `0${TEXT}`)}`];
  for (let i = 1; i < WRITES; i++) received.push(`MODIFIED large ${await objects.replace("large", `${i}${TEXT}`)}`);
  return received;
}

describe("watchers that stop reading", { concurrency: 2 }, () => {
  const setting = new Setting();
  after(() => setting.close());

  for (const store of ["memory", "sqlite", "etcd"] as const) {
    test(
      `on ${store}: they use little memory, delay no other client, and lose no events`,
      needsStore(store),
      async (t) => {
        const server = await setting.server(store === "etcd" ? await setting.etcd() : store);
        const wire = new Wire(server.base);
        const objects = new Objects(wire);
        const { revision } = await objects.list();
        const stalled = await Promise.all(
          Array.from({ length: STALLED }, () => wire.watch(`${PATH}&resourceVersion=${revision}`)),
        );
        const before = await server.memoryMb();
        const prompt = objects.watch(`resourceVersion=${revision}`, (events) => events.length === WRITES, 60_000);
        const expected = await writeMuch(objects);
        assert.deepEqual((await prompt).map(describeEvent), expected, "one that reads is not delayed");
        const grownMb = (await server.memoryMb()) - before;
        // The history itself is 15 MB, stored once for all readers; 40 copies would be 600.
        assert.ok(grownMb < 300, `${STALLED} stalled watchers cost ${grownMb} MiB`);
        t.diagnostic(
          `${STALLED} watchers that do not read ${WRITES} events of 100 KB: ${Math.round(grownMb)} MiB more`,
        );
        for (const [index, connection] of stalled.entries()) {
          if (index % 10 > 0) connection.cut();
          else
            assert.deepEqual(
              await read(connection.events(), WRITES),
              expected,
              "one that reads again has missed nothing",
            );
          connection.cut();
        }
        wire.close();
        await server.stop();
      },
    );
  }

  test("get an error when their history is compacted, and a new list and watch is complete", async () => {
    const server = await setting.server("memory", ["--etcd-compaction-interval=300ms"]);
    const wire = new Wire(server.base);
    const objects = new Objects(wire);
    const { revision } = await objects.list();
    const stalled = await wire.watch(`${PATH}&resourceVersion=${revision}`);
    const expected = await writeMuch(objects);
    const newest = (await objects.list()).revision;
    const isForgotten = () =>
      objects.list(`resourceVersion=${newest - 1}&resourceVersionMatch=Exact`, 410).then(
        () => true,
        () => false,
      );
    await eventually(isForgotten, { everyMs: 50 });
    const received = await read(stalled.events(), WRITES + 1);
    assert.equal(received.at(-1), "ERROR 410");
    assert.ok(received.length > 1, "what had been sent before arrives");
    assert.deepEqual(received.slice(0, -1), expected.slice(0, received.length - 1), "up to there nothing is missing");
    const list = await objects.list();
    assert.equal(list.items.find((thing) => thing.metadata.name === "large")?.data?.text?.slice(0, 3), `${WRITES - 1}`);
    const watching = objects.watch(`resourceVersion=${list.revision}`, (events) => events.length === 1);
    const next = await objects.replace("large", "small");
    assert.deepEqual((await watching).map(describeEvent), [`MODIFIED large ${next}`]);
    stalled.cut();
    wire.close();
    await server.stop();
  });
});

async function read(events: AsyncGenerator<WireEvent>, wanted: number): Promise<string[]> {
  const received: string[] = [];
  for await (const event of events) {
    received.push(describeEvent(event));
    if (received.length === wanted) break;
  }
  return received;
}
