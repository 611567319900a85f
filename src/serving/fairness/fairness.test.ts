import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { parseRequestInfo } from "../../base/api/request-info.ts";
import { MetricRegistry } from "../../base/metrics/metrics.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { Fairness } from "./fairness.ts";
import { FairnessMetrics } from "./fairness-metrics.ts";

function object(kind: string, name: string, spec: JsonObject): KubeObject {
  return { apiVersion: "flowcontrol.apiserver.k8s.io/v1", kind, metadata: { name, uid: `${name}-uid` }, spec };
}

const limited = (name: string, shares: number, queues: number, lendablePercent = 0): KubeObject =>
  object("PriorityLevelConfiguration", name, {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent,
      limitResponse: { type: "Queue", queuing: { queues, handSize: 1, queueLengthLimit: 50 } },
    },
  });

const schema = (
  name: string,
  level: string,
  precedence: number,
  subject: JsonObject,
  more: JsonObject = {},
): KubeObject =>
  object("FlowSchema", name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...more,
    rules: [
      {
        subjects: [subject],
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      },
    ],
  });

const everybody = { kind: "Group", group: { name: "*" } };
const mandatory = {
  levels: [object("PriorityLevelConfiguration", "exempt", { type: "Exempt", exempt: {} }), limited("catch-all", 5, 1)],
  schemas: [
    schema("exempt", "exempt", 1, { kind: "Group", group: { name: "system:masters" } }),
    schema("catch-all", "catch-all", 10_000, everybody),
  ],
};

function fairness(): { clock: ManualClock; fairness: Fairness; registry: MetricRegistry } {
  const clock = new ManualClock(0);
  const registry = new MetricRegistry();
  return {
    clock,
    registry,
    fairness: new Fairness({ clock, seats: 100, mandatory, metrics: new FairnessMetrics(registry) }),
  };
}

const pods = parseRequestInfo("GET", "/api/v1/namespaces/a/pods", new URLSearchParams());
const alice = { name: "alice", groups: ["system:authenticated"] };

suite("classification of requests", () => {
  test("the mandatory objects apply before any is stored", () => {
    const { fairness: fair } = fairness();
    assert.equal(fair.classify(alice, pods).schema.name, "catch-all");
    assert.equal(fair.classify({ name: "root", groups: ["system:masters"] }, pods).state.level.name, "exempt");
  });

  test("the lowest precedence wins, then the name, and a changed configuration applies at once", () => {
    const { fairness: fair } = fairness();
    const levels = [limited("low", 5, 4)];
    const user = { kind: "User", user: { name: "alice" } };
    fair.configure({ levels, schemas: [schema("b", "low", 5, user), schema("a", "low", 5, user)] });
    assert.equal(fair.classify(alice, pods).schema.name, "a");
    fair.configure({ levels, schemas: [schema("b", "low", 4, user), schema("a", "low", 5, user)] });
    assert.equal(fair.classify(alice, pods).schema.name, "b");
  });

  test("a FlowSchema whose level is missing is ignored", () => {
    const { fairness: fair } = fairness();
    fair.configure({ levels: [], schemas: [schema("a", "missing", 5, everybody)] });
    assert.equal(fair.classify(alice, pods).schema.name, "catch-all");
  });

  test("flows are told apart by user or by namespace, but not with one queue", () => {
    const { fairness: fair } = fairness();
    const by = (type: string) => ({ distinguisherMethod: { type } });
    const other = parseRequestInfo("GET", "/api/v1/namespaces/b/pods", new URLSearchParams());
    const flowOf = (level: KubeObject, type: string, info = pods) => {
      fair.configure({ levels: [level], schemas: [schema("a", "low", 5, everybody, by(type))] });
      return fair.classify(alice, info).distinguisher;
    };
    assert.equal(flowOf(limited("low", 5, 4), "ByUser"), "alice");
    assert.equal(flowOf(limited("low", 5, 4), "ByNamespace", other), "b");
    assert.equal(flowOf(limited("low", 5, 1), "ByUser"), "");
  });
});

suite("seats of priority levels", () => {
  test("are divided by shares, and lent to a level with more demand", async () => {
    const { fairness: fair, clock } = fairness();
    fair.configure({
      levels: [limited("low", 20, 4, 50), limited("high", 70, 4, 50)],
      schemas: [schema("a", "low", 5, everybody)],
    });
    const state = (name: string) => {
      const found = fair.levels.states.get(name);
      assert.ok(found);
      return found;
    };
    assert.equal(state("high").limits.nominal, 74);
    assert.equal(state("high").limits.lower, 37);
    const before = state("low").queues.limit;
    const flow = fair.classify(alice, pods);
    const about = { user: alice, info: pods };
    for (let index = 0; index < 200; index++) {
      flow.state.queues.start({ seats: 1, finalSeats: 0, lingerMs: 0 }, flow.hand, {
        counts: flow.counts,
        distinguisher: "",
        about,
      });
      await clock.advance(50);
    }
    fair.levels.adjust();
    assert.ok(state("low").queues.limit > before, `${before} and then ${state("low").queues.limit}`);
    assert.ok(state("high").queues.limit >= 37);
  });

  test("a level without an object stays until its requests have ended", () => {
    const { fairness: fair } = fairness();
    fair.configure({ levels: [limited("low", 20, 4)], schemas: [schema("a", "low", 5, everybody)] });
    const { state, hand, counts } = fair.classify(alice, pods);
    const about = { user: alice, info: pods };
    const ticket = state.queues.start({ seats: 1, finalSeats: 0, lingerMs: 0 }, hand, {
      counts,
      distinguisher: "",
      about,
    });
    fair.configure({ levels: [], schemas: [] });
    assert.equal(fair.levels.states.get("low")?.isLeaving, true);
    assert.equal(fair.classify(alice, pods).schema.name, "catch-all");
    assert.ok(typeof ticket !== "string");
    state.queues.finish(ticket);
    fair.levels.reap();
    assert.equal(fair.levels.states.has("low"), false);
  });

  test("metrics show the state of each level and flow schema", () => {
    const { fairness: fair, registry } = fairness();
    const { state, hand, counts } = fair.classify(alice, pods);
    state.queues.start({ seats: 1, finalSeats: 0, lingerMs: 0 }, hand, {
      counts,
      distinguisher: "",
      about: { user: alice, info: pods },
    });
    const text = Buffer.from(registry.bytes()).toString();
    assert.match(
      text,
      /apiserver_flowcontrol_current_executing_requests\{flow_schema="catch-all",priority_level="catch-all"\} 1/,
    );
    assert.match(text, /apiserver_flowcontrol_nominal_limit_seats\{priority_level="catch-all"\} 100/);
  });
});
