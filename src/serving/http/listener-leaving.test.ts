import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import { test } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import { connectHttp2, fetchHttp2, secure, slow, start, testCa } from "./listener.suite.ts";
import type { Listener } from "./listener.ts";

async function connectionHeader({ port }: Listener, agent: https.Agent): Promise<string | undefined> {
  const [response] = await once(https.get({ port, path: "/bytes", agent }), "response");
  response.resume();
  await once(response, "end");
  return response.headers.connection;
}

test("a leaving listener keeps serving and asks clients to reconnect", async () => {
  const listener = await start({ tls: secure });
  const agent = new https.Agent({ keepAlive: true, ca: testCa.certificate });
  assert.equal(await connectionHeader(listener, agent), "keep-alive");
  const session = connectHttp2(listener.port);
  const request = session.request({ ":path": "/slow" });
  await eventually(() => slow.length === 1);
  const goaway = once(session, "goaway");
  const answered = request.setEncoding("utf8").toArray();

  listener.leave();
  const [code, lastStream] = await goaway;
  assert.deepEqual([code, lastStream], [0, 2 ** 31 - 1], "GOAWAY rejects no stream in flight");
  slow.pop()?.();
  assert.equal((await answered).join(""), "slow");
  assert.equal(await connectionHeader(listener, agent), "close");
  assert.equal(await connectionHeader(listener, agent), "close", "accepts a new connection");
  const next = await fetchHttp2(listener.port, "/bytes");
  assert.equal(next.status, 200, "serves a request on a new session");

  await listener.close(0);
  agent.destroy();
});
