import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { freePort } from "../../../test/support/ports.ts";
import { defaultConfig } from "../../programs/server/config.ts";
import { startServer } from "../../programs/server/server.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { StoreError } from "../../storage/store.ts";
import { invalid } from "../api/api-error.ts";
import { BodyError } from "../api/call.ts";
import { invalidField } from "../api/field-error.ts";
import { drivenEnvironment } from "../util/environment.suite.ts";
import { carefulLog, type LoggedError } from "./careful-log.ts";
import { jsonLog } from "./system-environment.ts";

const SECRET = "c2VzYW1l";

function logged(err: unknown): { readonly err: LoggedError; readonly text: string } {
  const { log, lines } = drivenEnvironment();
  carefulLog(log).error("request failed", { err });
  const fields = lines[0]?.fields as { readonly err: LoggedError };
  return { err: fields.err, text: inspect(lines, { depth: 10, maxStringLength: null }) };
}

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

test("an error is logged without data sent by a client", () => {
  const given: readonly unknown[] = [
    new BodyError(`unexpected GroupVersion string: ${SECRET}`, Buffer.from(SECRET)),
    Object.assign(new Error("broken"), { bytes: SECRET, object: { data: SECRET } }),
    new Error("outer", { cause: new BodyError(SECRET, Buffer.from(SECRET)) }),
    invalid({ group: "", kind: "Secret" }, "s", [invalidField("data", SECRET, "wrong")]),
    thrownBy(() => JSON.parse(SECRET)),
    thrownBy(() => BigInt(SECRET)),
    thrownBy(() => new RegExp(`${SECRET}(`)),
    thrownBy(() => Buffer.alloc(SECRET as never)),
    thrownBy(() => new URL(SECRET)),
    SECRET,
    { data: SECRET },
  ];
  for (const error of given) {
    const { text } = logged(error);
    assert.doesNotMatch(text, new RegExp(`${SECRET}|${Buffer.from(SECRET).join(".*")}`), inspect(error));
    assert.match(text, /type:/);
  }
});

test("errors of the system, V8 and the store are logged with stack and causes", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  const { err } = logged(new StoreError("unavailable", "the database cannot be written", { cause: full }));
  assert.equal(err.type, "StoreError");
  assert.equal(err.message, "the database cannot be written");
  assert.equal(err.cause?.message, full.message);
  assert.match(err.stack ?? "", /^ {4}at .*careful-log\.server\.test\.ts/);
  assert.match(logged(thrownBy(() => (undefined as unknown as { x: number }).x)).err.message ?? "", /reading 'x'/);
  const refused = invalid({ group: "", kind: "Secret" }, "s", []);
  assert.equal(logged(refused).err.message, "422 Invalid");
});

test("an error is logged as one line of JSON", () => {
  const output: string[] = [];
  const log = carefulLog(jsonLog({ write: (line) => void output.push(line) }));
  log.error("request failed", { err: new BodyError(SECRET, Buffer.from(SECRET)), path: "/a" });
  const { level, name, msg, path: at, err } = JSON.parse(output.join(""));
  assert.deepEqual(
    [level, name, msg, at, Object.keys(err)],
    [50, "binnacle", "request failed", "/a", ["type", "stack"]],
  );
  assert.equal(err.type, "BodyError");
  assert.doesNotMatch(output.join(""), new RegExp(SECRET));
});

test("fields that cannot be JSON are omitted", () => {
  const output: string[] = [];
  const log = jsonLog({ write: (line) => void output.push(line) });
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  log.warn("odd", { circle });
  log.info("plain", { count: 2 });
  const [odd, plain] = output.map((line) => JSON.parse(line));
  assert.deepEqual([odd.level, odd.msg, odd.circle], [40, "odd", undefined]);
  assert.deepEqual([plain.level, plain.msg, plain.count, plain.pid], [30, "plain", 2, process.pid]);
  assert.ok(output.every((line) => line.endsWith("}\n")));
});

test("a Secret that the store fails to write does not appear in the log", async () => {
  class Failing extends MemoryStore {
    override async put(...given: Parameters<MemoryStore["put"]>): ReturnType<MemoryStore["put"]> {
      if (given[0].includes("/secrets/")) throw Object.assign(new Error("broken"), { bytes: given[1] });
      return super.put(...given);
    }
  }
  const environment = drivenEnvironment();
  const certDir = await mkdtemp(path.join(tmpdir(), "binnacle-log-"));
  const insecurePort = await freePort();
  const config = { ...defaultConfig, certDir, securePort: 0, insecurePort, controllers: "none", shutdownGraceMs: 0 };
  const server = await startServer(config, environment, { store: new Failing() });
  try {
    const response = await fetch(`${server.insecureUrl}/api/v1/namespaces/default/secrets`, {
      method: "POST",
      body: JSON.stringify({ metadata: { name: "s" }, data: { password: SECRET } }),
      headers: { "content-type": "application/json" },
    });
    assert.equal(response.status, 500);
    await response.body?.cancel();
    assert.deepEqual(
      environment.lines
        .filter(({ level }) => level === "error")
        .map(({ text, fields }) => [text, (fields as { err: LoggedError }).err.message, fields.method, fields.path]),
      [
        [
          "request failed with an unexpected error, responding 500",
          "broken",
          "POST",
          "/api/v1/namespaces/default/secrets",
        ],
      ],
    );
    const text = inspect(environment.lines, { depth: 10, maxArrayLength: null });
    assert.doesNotMatch(text, new RegExp(`${SECRET}|bytes`));
  } finally {
    await server.close();
    await rm(certDir, { recursive: true, force: true });
  }
});
