import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import { test } from "node:test";
import { eventually } from "../../test/support/time.ts";
import { authority, connectHttp2, fetchHttp2, secure, slow, start } from "./listener.suite.ts";
import type { Listener } from "./listener.ts";

async function connectionHeader({ port }: Listener, agent: https.Agent): Promise<string | undefined> {
  const [response] = await once(https.get({ port, path: "/bytes", agent }), "response");
  response.resume();
  await once(response, "end");
  return response.headers.connection;
}

test("a listener that is left serves everything, and asks clients to come by another connection", async () => {
  const listener = await start({ tls: secure });
  const agent = new https.Agent({ keepAlive: true, ca: authority.certificate });
  assert.equal(await connectionHeader(listener, agent), "keep-alive");
  const session = connectHttp2(listener.port);
  const request = session.request({ ":path": "/slow" });
  await eventually(() => slow.length === 1);
  const told = once(session, "goaway");
  const answered = request.setEncoding("utf8").toArray();

  listener.leave();
  const [code, lastStream] = await told;
  assert.deepEqual([code, lastStream], [0, 2 ** 31 - 1], "no stream that is on its way is refused");
  slow.pop()?.();
  assert.equal((await answered).join(""), "slow");
  assert.equal(await connectionHeader(listener, agent), "close");
  assert.equal(await connectionHeader(listener, agent), "close", "a new connection is taken");
  const next = await fetchHttp2(listener.port, "/bytes");
  assert.equal(next.status, 200, "and a new session serves what it was made for");

  await listener.close(0);
  agent.destroy();
});
