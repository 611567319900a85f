import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call, Outcome } from "../../base/api/call.ts";
import { systemClock } from "../../base/util/clock.ts";
import type { LogFields } from "../../base/util/environment.ts";
import { logRequests } from "./log-requests.ts";

test("logs a line per answered request, without the query", async () => {
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
