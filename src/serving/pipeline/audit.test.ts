import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AuditMetrics, Auditor } from "../../access/audit/auditor.ts";
import type { AuditEvent } from "../../access/audit/event.ts";
import type { Level } from "../../access/audit/policy.ts";
import { notFound, unauthorized } from "../../base/api/api-error.ts";
import type { Call, Handler, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { MetricRegistry } from "../../base/metrics/metrics.ts";
import { drivenEnvironment, settle } from "../../base/util/environment.suite.ts";
import { auditStages } from "./audit.ts";
import { callInProcess } from "./in-process.ts";
import { compose } from "./pipeline.ts";

const user = { name: "alice", groups: ["dev"] };
const OK: ApiReply = { type: "raw", code: 200, headers: {}, body: "ok" };

function audited(innermost: Handler, { level = "RequestResponse" as Level, keeps = true, isSecret = false } = {}) {
  const { clock, random } = drivenEnvironment();
  const events: AuditEvent["fields"][] = [];
  const registry = new MetricRegistry();
  const auditor = new Auditor({
    evaluate: () => ({ level, omitStages: new Set(), omitManagedFields: false }),
    backend: {
      process: (given) => {
        events.push(...given.map((event) => event.fields));
        return keeps;
      },
      close: async () => {},
    },
    clock,
    metrics: new AuditMetrics(registry),
  });
  const { refusals, requests } = auditStages({
    auditor,
    isLongRunning: ({ verb }) => verb === "watch",
    isSecret: () => isSecret,
    jsonOf: () => '{"a":1}\n',
  });
  const ask = async (handler: Handler, query = "") => {
    const wanted = { method: "GET", path: "/api/v1/namespaces/ns/pods", query: new URLSearchParams(query), user };
    const outcome = await callInProcess(handler, wanted, random).catch((error: Error) => error.message);
    await settle();
    return { outcome, stages: events.splice(0) };
  };
  return {
    clock,
    registry,
    ask: (query?: string) => ask(compose([refusals, requests], innermost), query),
    askWith: (credentialNotes: Call["credentialNotes"]) => {
      const identify: Stage = (next) => (call) => next(Object.assign(call, { credentialNotes }));
      return ask(compose([refusals, identify, requests], innermost));
    },
    refuse: () => ask(compose([refusals], innermost)),
  };
}

suite("audit stages", () => {
  test("audits a synchronously thrown error like a rejected promise", async () => {
    const thrown = audited(() => {
      throw notFound({ group: "", resource: "pods" }, "p");
    });
    const later = audited(async () => {
      throw notFound({ group: "", resource: "pods" }, "p");
    });
    const [atOnce, waited] = [await thrown.ask(), await later.ask()];
    const status = waited.stages.at(-1)?.responseStatus;
    assert.match(JSON.stringify(status), /"reason":"NotFound"/);
    assert.deepEqual(atOnce.stages.at(-1)?.responseStatus, status);
  });

  test("writes two events per request and three per watch", async () => {
    const { ask } = audited(async () => OK);
    const plain = await ask();
    assert.deepEqual(
      plain.stages.map(({ stage }) => stage),
      ["RequestReceived", "ResponseComplete"],
    );
    assert.equal(plain.stages[0]?.responseStatus, undefined);
    assert.deepEqual(plain.stages[1]?.responseStatus, { code: 200 });
    assert.equal(plain.stages[1]?.responseObject, '{"a":1}');
    const watch = await ask("watch=1");
    assert.deepEqual(
      watch.stages.map(({ stage }) => stage),
      ["RequestReceived", "ResponseStarted", "ResponseComplete"],
    );
  });

  test("writes no events at level None", async () => {
    let seen: Call | undefined;
    const { ask } = audited(
      async (call) => {
        seen = call;
        return OK;
      },
      { level: "None" },
    );
    assert.deepEqual((await ask()).stages, []);
    assert.equal(seen?.audit, undefined);
  });

  test("records the Status of an ApiError, and a Panic without message for other errors", async () => {
    const refused = await audited(async () => Promise.reject(notFound({ group: "", resource: "pods" }, "p"))).ask();
    assert.equal(refused.stages[1]?.responseStatus?.message, 'pods "p" not found');
    const broken = await audited(async () => Promise.reject(new Error("internal detail"))).ask();
    assert.deepEqual(
      broken.stages.map(({ stage }) => stage),
      ["RequestReceived", "Panic"],
    );
    assert.deepEqual(broken.stages[1]?.responseStatus, {
      ...{ status: "Failure", reason: "InternalError", code: 500 },
      message: "APIServer panic'd: unexpected error",
    });
  });

  test("writes one event without user if authentication fails", async () => {
    const { stages } = await audited(async () => Promise.reject(unauthorized())).refuse();
    assert.deepEqual(
      stages.map(({ stage, user: who }) => [stage, who]),
      [["ResponseStarted", undefined]],
    );
    assert.equal(stages[0]?.responseStatus?.code, 401);
  });

  test("rejects a request whose audit event cannot be stored", async () => {
    const { ask, registry } = audited(async () => assert.fail("must not run"), { keeps: false });
    const { outcome } = await ask();
    assert.equal(
      (outcome as { body?: string }).body,
      'Internal Server Error: "/api/v1/namespaces/ns/pods": failed to store audit event\n',
    );
    assert.match(Buffer.from(registry.bytes()).toString(), /apiserver_audit_requests_rejected_total 1/);
  });

  test("omits objects and messages of secret paths at any audit level", async () => {
    const sending: Handler = async (call) => {
      call.audit?.sent({ metadata: { name: "s", uid: "u" }, data: { k: "geheim" } });
      call.audit?.sentPatch({ data: "geheim" });
      throw notFound({ group: "", resource: "geheim" }, "geheim");
    };
    const { stages } = await audited(sending, { isSecret: true }).ask();
    const last = stages[1];
    assert.equal(last?.level, "Metadata");
    assert.equal(last?.objectRef?.name, "s");
    assert.deepEqual(last?.responseStatus, { status: "Failure", reason: "NotFound", code: 404 });
    assert.ok(!JSON.stringify(last).includes("geheim"));
  });

  test("adds annotations of the authenticator to every event", async () => {
    const { stages } = await audited(async () => OK).askWith({ "authentication.k8s.io/stale-token": "x" });
    assert.deepEqual(
      stages.map(({ annotations }) => [...annotations]),
      stages.map(() => [["authentication.k8s.io/stale-token", "x"]]),
    );
    assert.equal(stages.length, 2);
  });

  test("keeps the first value of an annotation and annotates slow requests with their latency", async () => {
    const slow: Handler = async (call) => {
      call.audit?.annotate("k", "1");
      call.audit?.annotate("k", "2");
      await clock.advance(61_500);
      return OK;
    };
    const { ask, clock } = audited(slow);
    const { stages } = await ask();
    assert.deepEqual(
      [...(stages[1]?.annotations ?? [])],
      [
        ["k", "1"],
        ["apiserver.latency.k8s.io/total", "1m1.5s"],
      ],
    );
  });
});
