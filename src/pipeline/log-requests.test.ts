import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Outcome } from "../api/call.ts";
import { systemClock } from "../lib/clock.ts";
import type { LogFields } from "../lib/environment.ts";
import { logRequests } from "./log-requests.ts";

test("a request has a line once it is answered, without its query", async () => {
  const lines: [string, LogFields | undefined][] = [];
  const log = { error() {}, warn() {}, info: (text: string, fields?: LogFields) => void lines.push([text, fields]) };
  const listeners: ((outcome: Outcome) => void)[] = [];
  const request = { method: "GET", path: "/api/v1/pods", uri: "/api/v1/pods?token=secret", remoteAddress: "::1" };
  const call = {
    request,
    info: { verb: "list" },
    user: { name: "alice", groups: [] },
    whenFinished: (listener: (outcome: Outcome) => void) => void listeners.push(listener),
  } as unknown as Call;
  const clock = { ...systemClock, monotonic: () => 5 };
  await logRequests({ clock, log })(async () => ({ code: 200 }) as never)(call);
  assert.deepEqual(lines, []);
  for (const listener of listeners) listener({ code: 200, bytes: 7 });
  const { method, path, remoteAddress } = request;
  assert.deepEqual(lines, [
    ["request", { method, path, verb: "list", code: 200, ms: 0, bytes: 7, user: "alice", remoteAddress }],
  ]);
});
