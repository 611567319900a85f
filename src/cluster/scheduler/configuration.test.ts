import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readSchedulerConfiguration } from "./configuration.ts";
import { enabledPlugins } from "./enabled-plugins.ts";

const read = (yaml: string) =>
  readSchedulerConfiguration(`apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n${yaml}`);

suite("KubeSchedulerConfiguration", () => {
  test("has the defaults of kube-scheduler", () => {
    const { profiles, backoff } = read("");
    assert.deepEqual(backoff, { initialMs: 1000, maxMs: 10_000 });
    assert.deepEqual(
      profiles.map(({ schedulerName, percentageOfNodesToScore }) => [schedulerName, percentageOfNodesToScore]),
      [["default-scheduler", 0]],
    );
  });

  test("reads profiles with their arguments", () => {
    const { profiles } = read(`percentageOfNodesToScore: 30
profiles:
- schedulerName: a
  percentageOfNodesToScore: 50
- schedulerName: b
  pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAllocated } } }]`);
    assert.deepEqual(
      profiles.map((profile) => profile.percentageOfNodesToScore),
      [50, 30],
    );
    assert.deepEqual(profiles[1]?.args.get("NodeResourcesFit"), { scoringStrategy: { type: "MostAllocated" } });
  });

  const invalid: readonly [yaml: string, message: RegExp][] = [
    ["profile: []", /unknown field "profile"/],
    ["podInitialBackoffSeconds: 0", /podInitialBackoffSeconds: must be greater than 0/],
    ["podMaxBackoffSeconds: -1", /podMaxBackoffSeconds: must be greater than or equal to PodInitialBackoffSeconds/],
    ["percentageOfNodesToScore: 101", /percentageOfNodesToScore: not in valid range \[0-100\]/],
    ["profiles: [{ schedulerName: a }, { schedulerName: a }]", /two have the schedulerName "a"/],
    ["profiles: [{ schedulerName: a }, {}]", /each needs a schedulerName/],
    ["extenders: [{ urlPrefix: 'http://localhost' }]", /extenders are not supported/],
  ];
  for (const [yaml, message] of invalid) test(`rejects ${yaml}`, () => assert.throws(() => read(yaml), message));
});

suite("plugins of a profile", () => {
  const known = [{ name: "A", weight: 2 }, { name: "B" }, { name: "C" }];
  const enabled = (plugins: Parameters<typeof enabledPlugins>[0]["plugins"]) =>
    enabledPlugins({ plugins }, known, new Set(["Elsewhere"]), ["score"]).map(({ name, weight }) => `${name}${weight}`);
  const names = (...all: readonly string[]) => all.map((name) => ({ name }));

  test("are the default ones", () => {
    assert.deepEqual(enabled({}), ["A2", "B1", "C1"]);
    assert.deepEqual(enabled({ filter: { disabled: names("*") } }), ["A2", "B1", "C1"]);
  });

  test("lack disabled ones", () => {
    assert.deepEqual(enabled({ multiPoint: { disabled: names("B") } }), ["A2", "C1"]);
    assert.deepEqual(enabled({ score: { disabled: names("B") } }), ["A2", "C1"]);
    assert.deepEqual(enabled({ score: { disabled: names("*"), enabled: names("C") } }), ["C1"]);
  });

  test("begin with those of the extension point, and end with added ones", () => {
    assert.deepEqual(enabled({ score: { enabled: [{ name: "C", weight: 5 }] } }), ["C5", "A2", "B1"]);
    assert.deepEqual(enabled({ multiPoint: { enabled: [{ name: "B", weight: 7 }] } }), ["A2", "B7", "C1"]);
    const off = { multiPoint: { disabled: names("A") } };
    assert.deepEqual(enabled({ ...off, score: { enabled: names("A") } }), ["B1", "C1", "A1"]);
  });

  test("must exist", () => {
    assert.throws(() => enabled({ score: { enabled: names("Unknown") } }), /plugin "Unknown" does not exist/);
    assert.deepEqual(enabled({ score: { enabled: names("Elsewhere") } }), ["A2", "B1", "C1"]);
  });
});
