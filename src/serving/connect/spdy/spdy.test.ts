import assert from "node:assert/strict";
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { constants, createDeflate } from "node:zlib";
import { SpdyConnection } from "./connection.ts";
import { SPDY_DICTIONARY } from "./dictionary.ts";
import { controlFrame, dataHead, FrameType, words } from "./frames.ts";
import { HeaderPrinter, HeaderReader } from "./header-blocks.ts";
import type { SpdyStream } from "./stream.ts";

function pair(onStream: (stream: SpdyStream) => void): { client: SpdyConnection; server: SpdyConnection } {
  const [one, other] = duplexPair();
  return {
    client: new SpdyConnection(one, { role: "client" }),
    server: new SpdyConnection(other, { role: "server", onStream }),
  };
}

suite("SPDY/3.1", () => {
  test("uses the dictionary of the specification", () => {
    assert.equal(SPDY_DICTIONARY.length, 1423);
    let [low, high] = [1, 0];
    for (const byte of SPDY_DICTIONARY) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    // The Adler-32 checksum that identifies it in every zlib stream of SPDY/3.
    assert.equal((high * 65_536 + low).toString(16), "e3c6a7c2");
  });

  test("decodes headers of consecutive blocks, stored or compressed with the dictionary", async () => {
    const printer = new HeaderPrinter();
    const reader = new HeaderReader();
    for (const value of ["error", "stdin", "ü".repeat(100)]) {
      const read = await reader.read(printer.print([["streamType", value]]));
      assert.deepEqual([...read], [["streamtype", value]]);
    }
    const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
    const packed = new HeaderReader();
    for (const value of ["data", "error"]) {
      const name = Buffer.from("streamtype");
      deflate.write(Buffer.concat([words(1, name.length), name, words(value.length), Buffer.from(value)]));
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
      assert.deepEqual([...(await packed.read(deflate.read()))], [["streamtype", value]]);
    }
    reader.close();
    packed.close();
    deflate.destroy();
  });

  test("both directions of a stream end independently", async () => {
    const { client, server } = pair((stream) => {
      void text(stream).then((heard) => stream.end(`heard ${heard}`));
    });
    const stream = await client.open({ streamType: "data", port: "80" });
    stream.end("hello");
    assert.equal(await text(stream), "heard hello");
    client.close();
    await Promise.all([client.closed, server.closed]);
  });

  test("transfers a megabyte on many streams concurrently", async () => {
    const { client } = pair((stream) => void stream.pipe(stream));
    const sent = Buffer.alloc(1024 * 1024, "x");
    const echoes = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const stream = await client.open({ streamType: "data" });
        stream.end(sent);
        return (await buffer(stream)).equals(sent);
      }),
    );
    assert.deepEqual(new Set(echoes), new Set([true]));
    client.close();
  });

  test("applies backpressure to a peer that does not read", async () => {
    let stream: SpdyStream | undefined;
    const { client } = pair((opened) => {
      stream = opened;
    });
    const writer = await client.open({ streamType: "data" });
    let written = 0;
    while (writer.write(Buffer.alloc(16 * 1024))) {
      written += 16 * 1024;
      await new Promise((resolve) => setImmediate(resolve));
      if (written > 8 * 1024 * 1024) break;
    }
    assert.ok(written < 1024 * 1024, `${written} bytes were taken`);
    assert.ok((stream?.readableLength ?? 0) <= 128 * 1024);
    client.close();
  });

  test("a reset stream fails without affecting others", async () => {
    const { client } = pair((stream) => {
      if (stream.headers.get("streamtype") === "bad") setImmediate(() => stream.destroy());
      else stream.pipe(stream);
    });
    const bad = await client.open({ streamType: "bad" });
    await assert.rejects(text(bad), /reset/);
    const good = await client.open({ streamType: "good" });
    good.end("x");
    assert.equal(await text(good), "x");
    client.close();
  });

  test("rejects streams whose handler throws", async () => {
    const { client } = pair(() => {
      throw new Error("no");
    });
    await assert.rejects(client.open({ streamType: "data" }), /rejected/);
    client.close();
  });

  const printer = new HeaderPrinter();
  const hostile: readonly (readonly [name: string, bytes: Buffer])[] = [
    ["another protocol", Buffer.from("GET / HTTP/1.1\r\n\r\n".repeat(1000))],
    ["another version", Buffer.from("8002000100000000", "hex")],
    ["a control frame without an end", Buffer.from("80030001ffffffff", "hex")],
    ["headers that are no zlib", controlFrame(FrameType.synStream, 0, words(1, 0), Buffer.from("xxnothing"))],
    ["a short frame", controlFrame(FrameType.rstStream, 0)],
    [
      "too many headers",
      controlFrame(FrameType.synStream, 0, words(1, 0), Buffer.alloc(2), printer.print([]).fill(0xff, 7, 11)),
    ],
  ];
  for (const [name, bytes] of hostile) {
    test(`${name} ends the connection`, async () => {
      const [one, other] = duplexPair() as [Duplex, Duplex];
      const server = new SpdyConnection(other, { role: "server", onStream: () => {} });
      one.on("error", () => {});
      one.resume();
      one.end(bytes);
      await server.closed;
    });
  }

  test("drops data of unknown streams and answers pings", async () => {
    const [one, other] = duplexPair() as [Duplex, Duplex];
    new SpdyConnection(other, { role: "server", onStream: () => {} });
    one.write(Buffer.concat([dataHead(7, 3), Buffer.from("abc"), controlFrame(FrameType.ping, 0, words(1))]));
    const [answer] = (await once(one, "data")) as [Buffer];
    assert.deepEqual(answer, controlFrame(FrameType.ping, 0, words(1)));
    one.destroy();
  });
});
