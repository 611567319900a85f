import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import { BoundedLines } from "./log-lines.ts";

describe("log lines", () => {
  it("are dropped and counted while the reader is stalled", async () => {
    const got: string[] = [];
    let goOn = (): void => {};
    const stream = new Writable({
      decodeStrings: false,
      write(line, _, done) {
        got.push(line);
        goOn = done;
      },
    });
    const counts: number[] = [];
    const lines = new BoundedLines(stream, (count) => counts.push(count), 100_000);
    for (let line = 0; line < 50; line++) lines.write("x".repeat(10_000));
    assert.ok(stream.writableLength <= 100_000);
    await eventually(() => {
      goOn();
      return counts.length > 0;
    });
    assert.deepEqual([got.length, counts], [10, [40]]);
  });

  it("are no longer written after the reader has gone", () => {
    const stream = new Writable({ write: () => {} });
    const lines = new BoundedLines(stream, () => {});
    stream.destroy(new Error("EPIPE"));
    lines.write("x");
    assert.equal(stream.writableLength, 0);
  });
});
