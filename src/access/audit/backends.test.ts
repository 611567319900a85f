import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { seededRandom } from "../../base/util/seeded-random.ts";
import { defaultConfig } from "../../programs/server/config.ts";
import { type AuditBackend, ignoringErrors, joined } from "./backend.ts";
import { BatchBackend } from "./batch.ts";
import { AuditEvent, type EventFields } from "./event.ts";
import { LogBackend } from "./log.ts";
import { requireValidAudit } from "./options.ts";
import { RotatingFile } from "./rotating-file.ts";
import { truncating } from "./truncate.ts";
import { WebhookBackend } from "./webhook.ts";

const fields: EventFields = {
  level: "RequestResponse",
  auditID: "id",
  stage: "ResponseComplete",
  requestURI: "/api/v1/pods?watch=1",
  verb: "list",
  user: { name: "alice", groups: ["dev", 'o"ps'], uid: "u", extra: { k: ["v"] } },
  impersonatedUser: undefined,
  impersonationConstraint: "",
  sourceIPs: ["127.0.0.1"],
  userAgent: "a\nb",
  objectRef: {
    ...{ resource: "pods", namespace: "ns", name: "", uid: "" },
    ...{ apiGroup: "", apiVersion: "v1", resourceVersion: "", subresource: "" },
  },
  responseStatus: { code: 200 },
  requestObject: undefined,
  responseObject: '{"a":1}',
  requestReceivedMs: Date.parse("2026-01-02T03:04:05.678Z"),
  stageMs: Date.parse("2026-01-02T03:04:06.000Z"),
  annotations: new Map([
    ["b", "2"],
    ["a", "1"],
  ]),
};
const event = (id = "id", more: Partial<EventFields> = {}) => new AuditEvent({ ...fields, auditID: id, ...more });

function collecting() {
  const batches: string[][] = [];
  const backend: AuditBackend = {
    process(events) {
      batches.push(events.map((one) => one.fields.auditID));
      return true;
    },
    close: async () => {},
  };
  return { batches, backend };
}

const losses = () => {
  const lost: [string, number][] = [];
  return { lost, report: (plugin: string, events: number) => void lost.push([plugin, events]) };
};

suite("AuditEvent", () => {
  test("prints JSON like kube-apiserver", () => {
    assert.equal(
      event().json,
      '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"id","stage":"ResponseComplete","requestURI":"/api/v1/pods?watch=1","verb":"list","user":{"username":"alice","uid":"u","groups":["dev","o\\"ps"],"extra":{"k":["v"]}},"sourceIPs":["127.0.0.1"],"userAgent":"a\\nb","objectRef":{"resource":"pods","namespace":"ns","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"responseObject":{"a":1},"requestReceivedTimestamp":"2026-01-02T03:04:05.678000Z","stageTimestamp":"2026-01-02T03:04:06.000000Z","annotations":{"a":"1","b":"2"}}',
    );
    const impersonating = event("id", {
      impersonatedUser: { name: "bob", groups: [] },
      impersonationConstraint: "impersonate:user-info",
    });
    assert.match(
      impersonating.json,
      /"impersonatedUser":\{"username":"bob"\},"authenticationMetadata":\{"impersonationConstraint":"impersonate:user-info"\},"sourceIPs"/,
    );
    assert.match(event("id", { user: undefined }).json, /"user":\{\}/);
  });

  test("prints the legacy line", () => {
    assert.equal(
      event().legacyLine,
      '2026-01-02T03:04:05.678Z AUDIT: id="id" stage="ResponseComplete" ip="127.0.0.1" method="list" user="alice" groups="\\"dev\\",\\"o\\\\\\"ps\\"" as="<self>" asgroups="<lookup>" user-agent="a\\nb" namespace="ns" uri="/api/v1/pods?watch=1" response="200"',
    );
  });
});

suite("audit backends", () => {
  test("sends batches when they are full or due, and drops and counts events without room", async () => {
    const clock = new ManualClock();
    const { batches, backend } = collecting();
    const { lost, report } = losses();
    const options = { bufferSize: 3, maxSize: 2, maxWaitMs: 1000, concurrency: 1 };
    const batch = new BatchBackend(backend, options, clock, report);
    assert.equal(batch.process([event("1")]), true);
    assert.deepEqual(batches, []);
    await clock.advance(1000);
    assert.deepEqual(batches, [["1"]]);
    batch.process(["2", "3", "4", "5"].map((id) => event(id)));
    assert.deepEqual(lost, [["buffered", 1]]);
    await clock.advance(0);
    assert.deepEqual(batches, [["1"], ["2", "3"]]);
    await batch.close();
    assert.deepEqual(batches, [["1"], ["2", "3"], ["4"]]);
    batch.process([event("6")]);
    assert.deepEqual(lost.at(-1), ["buffered", 1]);
  });

  test("throttles batches", async () => {
    const clock = new ManualClock();
    const { batches, backend } = collecting();
    const throttle = { qps: 10, burst: 2 };
    const options = { bufferSize: 100, maxSize: 1, maxWaitMs: 1000, concurrency: 1, throttle };
    const batch = new BatchBackend(backend, options, clock, () => {});
    batch.process(["1", "2", "3", "4"].map((id) => event(id)));
    await clock.advance(0);
    assert.equal(batches.length, 2);
    await clock.advance(100);
    assert.equal(batches.length, 3);
    await clock.advance(100);
    assert.equal(batches.length, 4);
    await batch.close();
  });

  test("removes the objects of events that are too large, or drops them", async () => {
    const kept: AuditEvent[] = [];
    const process = (events: readonly AuditEvent[]) => kept.push(...events) > 0;
    const backend = { process, close: async () => {} };
    const { lost, report } = losses();
    const limits = { maxEventBytes: 1000, maxBatchBytes: 1000 };
    const truncate = truncating(backend, limits, report);
    const big = JSON.stringify("x".repeat(2000));
    await truncate.process([event("1"), event("2", { responseObject: big }), event("3", { userAgent: big })]);
    assert.deepEqual(
      kept.map((one) => one.fields.auditID),
      ["1", "2"],
    );
    assert.equal(kept[1]?.fields.responseObject, undefined);
    assert.equal(kept[1]?.fields.annotations.get("audit.k8s.io/truncated"), "true");
    assert.deepEqual(lost, [["truncate", 1]]);
  });

  test("tries a webhook five times with increasing pauses", async () => {
    const clock = new ManualClock();
    const random = seededRandom(1);
    const { lost, report } = losses();
    const bodies: string[] = [];
    let failures = 3;
    const send = async (json: string) => {
      bodies.push(json);
      if (failures-- > 0) throw new Error("down");
    };
    const webhook = new WebhookBackend({ send, initialBackoffMs: 100, clock, random, report });
    const sent = webhook.process([event("1"), event("2")]);
    for (let step = 0; step < 10; step++) await clock.advance(100);
    assert.equal(await sent, true);
    assert.equal(bodies.length, 4);
    const list = JSON.parse(bodies[0] ?? "");
    assert.deepEqual(
      [list.kind, list.apiVersion, list.items.length, list.items[0].kind],
      ["EventList", "audit.k8s.io/v1", 2, undefined],
    );
    failures = 100;
    const failing = webhook.process([event("3")]);
    for (let step = 0; step < 20; step++) await clock.advance(100);
    assert.equal(await failing, false);
    assert.deepEqual([bodies.length, lost], [9, [["webhook", 1]]]);
    await webhook.close();
  });

  test("stops the server even if a webhook is down", async () => {
    const clock = new ManualClock();
    const { lost, report } = losses();
    const send = async () => Promise.reject(new Error("down"));
    const webhook = new WebhookBackend({ send, initialBackoffMs: 10_000, clock, random: seededRandom(1), report });
    const options = { bufferSize: 10, maxSize: 2, maxWaitMs: 1000, concurrency: 1 };
    const batch = new BatchBackend(webhook, options, clock, report);
    batch.process(["1", "2", "3"].map((id) => event(id)));
    await clock.advance(0);
    await batch.close();
    assert.equal(clock.timerCount, 0);
    assert.deepEqual(lost.toSorted(), [
      ["webhook", 1],
      ["webhook", 2],
    ]);
  });

  test("passes an event to all backends, and reports failures of strict ones", async () => {
    const failing: AuditBackend = { process: async () => false, close: async () => {} };
    const { batches, backend } = collecting();
    assert.equal(await joined([failing, backend]).process([event()]), false);
    assert.equal(await joined([ignoringErrors(failing), backend]).process([event()]), true);
    assert.equal(joined([backend]).process([event()]), true);
    assert.equal(batches.length, 3);
  });

  test("validates options with kube-apiserver's messages", () => {
    const { log, webhook } = defaultConfig.audit;
    const wrong = {
      log: { ...log, path: "x", mode: "slow" as never, maxSizeMb: -1, format: "xml" as never },
      webhook: { ...webhook, configFile: "y", batch: { ...webhook.batch, throttleQps: 0 } },
    };
    assert.throws(() => requireValidAudit(wrong), {
      message:
        '[invalid audit log mode slow, allowed modes are "batch,blocking,blocking-strict", invalid audit log format xml, allowed formats are "legacy,json", --audit-log-maxsize -1 can\'t be a negative number, invalid audit batch webhook throttle QPS 0, must be a positive number]',
    });
    requireValidAudit(defaultConfig.audit);
  });
});

suite("RotatingFile", () => {
  async function inFolder(t: TestContext): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-audit-"));
    t.after(() => rm(folder, { recursive: true }));
    return folder;
  }
  const limits = { maxAgeDays: 0, maxBackups: 2, compress: false, report: assert.ifError };

  test("creates files with mode 0600, appends to them, and rotates them when full", async (t) => {
    const clock = new ManualClock();
    const file = path.join(await inFolder(t), "logs", "audit.log");
    const first = await RotatingFile.open({ ...limits, file, clock, maxBytes: 10 });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await first.write("12345\n");
    await first.close();
    const again = await RotatingFile.open({ ...limits, file, clock, maxBytes: 10 });
    const before = clock.now();
    await again.write("67890\n");
    await assert.rejects(again.write("x".repeat(11)), /write length 11 exceeds maximum file size 10/);
    await again.close();
    assert.equal(await readFile(file, "utf8"), "67890\n");
    const stamp = new Date(before).toISOString().replaceAll(":", "-").replace("Z", "");
    assert.equal(await readFile(path.join(path.dirname(file), `audit-${stamp}.log`), "utf8"), "12345\n");
  });

  test("removes old backups by number and age, and compresses the others", async (t) => {
    const clock = new ManualClock();
    const folder = await inFolder(t);
    const file = path.join(folder, "audit.log");
    const old = path.join(folder, "audit-1999-01-02T03-04-05.678.log");
    await writeFile(old, "old");
    await writeFile(path.join(folder, "audit-note.log"), "mine");
    const log = await RotatingFile.open({ ...limits, maxAgeDays: 7, compress: true, file, clock, maxBytes: 4 });
    for (const text of ["1\n\n\n", "2\n\n\n", "3\n\n\n", "4\n\n\n"]) {
      await log.write(text);
      await clock.advance(1);
    }
    await log.close();
    const names = (await readdir(folder)).toSorted();
    const backups = names.filter((name) => name.endsWith(".gz"));
    assert.equal(backups.length, 2);
    assert.deepEqual(
      names.filter((name) => !name.endsWith(".gz")),
      ["audit-note.log", "audit.log"],
    );
    const texts = await Promise.all(
      backups.map(async (name) => gunzipSync(await readFile(path.join(folder, name))).toString()),
    );
    assert.deepEqual(texts, ["2\n\n\n", "3\n\n\n"]);
  });

  test("reports the number of events lost if the log cannot be written", async () => {
    const { lost, report } = losses();
    const broken = { write: async () => Promise.reject(new Error("disk full")), close: async () => {} };
    const backend = new LogBackend(broken, "json", report);
    assert.equal(await backend.process([event(), event()]), false);
    assert.deepEqual(lost, [["log", 2]]);
  });
});
