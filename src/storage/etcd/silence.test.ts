import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../../test/support/time.ts";
import { Channel } from "./channel.ts";
import { Silence } from "./silence.ts";
import { type Connection, GrpcError, grpcStatus } from "./transport.ts";

test("a timeout does not count as silence if other calls were answered meanwhile", () => {
  const silence = new Silence({ probe: () => Promise.reject(new Error("not asked")) });
  const before = silence.answers;
  silence.answered();
  silence.noteTimeout(before);
  assert.equal(silence.isSilent, false);
});

test("silence is reported once, and ends with the first response to a probe", async () => {
  const probes: PromiseWithResolvers<void>[] = [];
  const heard: (string | undefined)[] = [];
  const probe = () => {
    probes.push(Promise.withResolvers());
    return probes.at(-1)?.promise ?? Promise.reject();
  };
  const silence = new Silence({ probe, changed: (error) => heard.push(error?.message) });
  silence.noteTimeout(0);
  silence.noteTimeout(0);
  assert.deepEqual([silence.isSilent, probes.length, heard], [true, 1, ["etcd does not answer"]]);
  await eventually(() => probes.length === 2);
  probes[0]?.reject(new Error("connection lost"));
  assert.equal(silence.isSilent, true);
  const over = silence.over(60_000);
  probes[1]?.resolve();
  await over;
  assert.deepEqual([silence.isSilent, heard], [false, ["etcd does not answer", undefined]]);
});

/** Members by host name; those in `silent` do not respond. */
function channelTo(names: readonly string[], silent: ReadonlySet<string>, asked: string[]): Channel {
  const connect = async ({ url }: { readonly url: URL }): Promise<Connection> => ({
    unary: async (path) => {
      asked.push(path);
      if (!silent.has(url.hostname)) return new Uint8Array();
      // Their time is over at once.
      await nextTurn();
      throw new GrpcError(grpcStatus.deadlineExceeded, "no answer");
    },
    stream: () => assert.fail("no stream was opened"),
    isLost: false,
    isClosed: false,
    check: () => {},
    drain: () => {},
    destroy: () => {},
  });
  const probe = { path: "/probe", request: new Uint8Array() };
  return new Channel(connect, { endpoints: names.map((name) => `http://${name}:1`), probe });
}

test("with one silent member calls fail without being sent; with another member they go there", async (t) => {
  const asked: string[] = [];
  const alone = channelTo(["a"], new Set(["a"]), asked);
  t.after(() => alone.close());
  const call = (channel: Channel) => channel.unary("/call", new Uint8Array(), { timeoutMs: 60_000, kind: "read" });
  await assert.rejects(call(alone), { message: "etcd does not answer", mayHaveHappened: true });
  await assert.rejects(call(alone), { message: "etcd does not answer", mayHaveHappened: false });
  assert.equal(asked.filter((path) => path === "/call").length, 1);
  const several = channelTo(["a", "b"], new Set(["a"]), asked);
  t.after(() => several.close());
  for (let i = 0; i < 3; i++) await call(several);
});
