import assert from "node:assert/strict";
import { test } from "node:test";
import { readableLog } from "./readable-log.ts";

function logged(hasColors: boolean, write: (log: ReturnType<typeof readableLog>) => void): string {
  const lines: string[] = [];
  write(readableLog((line) => void lines.push(line), { hasColors, time: () => "12:00:00" }));
  return lines.join("");
}

test("prints one line per message, with its fields", () => {
  const err = { type: "Error", message: "disk full", stack: "at …" };
  const text = logged(false, (log) => {
    log.warn("the store rejects writes", { err, count: 2, name: "a b", absent: undefined });
    log.info("ready");
  });
  assert.equal(
    text,
    '12:00:00 warn  the store rejects writes err="disk full" count=2 name="a b"\n12:00:00 info  ready\n',
  );
});

test("prints requests in short form, with a colour by status code on a terminal", () => {
  const fields = { method: "GET", path: "/api/v1/namespaces", verb: "list", code: 200, ms: 3, bytes: 9, user: "alice" };
  assert.equal(
    logged(false, (log) => log.info("request", fields)),
    "12:00:00 GET    200     3 ms /api/v1/namespaces by alice\n",
  );
  const text = logged(true, (log) => log.info("request", { ...fields, code: 503 }));
  assert.ok(text.includes("\u001b[31m503\u001b[0m"), JSON.stringify(text));
});

test("escapes control characters in data sent by clients", () => {
  const evil = "/a\u001b]0;owned\u0007\n\u202eb\u009b31m";
  const text = logged(false, (log) => {
    log.info("request", { method: "GET", path: evil, code: 404, ms: 1, user: evil });
    log.warn("text", { path: evil });
  });
  assert.ok(!/[^\P{C}\n]/u.test(text), JSON.stringify(text));
  assert.equal(text.split("\n").length, 3);
});
