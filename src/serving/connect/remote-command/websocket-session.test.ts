import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { suite, test } from "node:test";
import type { WebSocketChannel } from "../../../base/api/channel.ts";
import { WebSocketSession } from "./websocket-session.ts";

const MESSAGES = 50;
const MESSAGE_BYTES = 32 * 1024;

/** A client that sends stdin in messages that are larger than the buffer. */
function uploading(): WebSocketChannel {
  async function* messages() {
    for (let sent = 0; sent < MESSAGES; sent += 1) yield { data: Buffer.alloc(MESSAGE_BYTES), isText: false };
    yield { data: Buffer.of(255, 0), isText: false };
  }
  return { protocol: "v5.channel.k8s.io", messages: messages(), send: async () => {} } as unknown as WebSocketChannel;
}

suite("exec over a WebSocket", () => {
  test("receives a large input with a constant number of listeners", async () => {
    const session = new WebSocketSession(uploading(), { stdin: true, stdout: true, stderr: false });
    const { stdin } = session;
    assert.ok(stdin);
    let most = 0;
    stdin.on("newListener", () => {
      most = Math.max(most, stdin.listenerCount("close"));
    });
    const [received] = await Promise.all([buffer(stdin), session.receive()]);
    assert.equal(received.length, MESSAGES * (MESSAGE_BYTES - 1));
    assert.ok(most < 5, `${most} listeners`);
  });

  test("stops waiting for a reader when stdin is closed", async () => {
    const session = new WebSocketSession(uploading(), { stdin: true, stdout: true, stderr: false });
    const receiving = session.receive();
    setImmediate(() => session.stdin?.destroy());
    await receiving;
  });
});
