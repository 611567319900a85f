import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assertBelow, processorMs } from "../../../../test/support/machine-speed.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { TooCostly } from "../../../base/util/meter.ts";
import { KwokCel } from "../kwok/cel.ts";
import { SimulatedCluster } from "../nodes.suite.ts";
import { Stage } from "./stage.ts";
import { isStageFunction, stageFunctions } from "./stage-functions.ts";
import type { StageSpec } from "./stage-types.ts";

const cluster = new SimulatedCluster();
const cel = new KwokCel(cluster.resources, { self: "io.k8s.api.core.v1.Pod" });
const context = { isKnownFunction: isStageFunction, cel, patchType: "strategic" } as const;

/** A Pod as large as a request may be. */
const big: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "big", annotations: { text: "x".repeat(200_000) } },
  spec: { containers: Array.from({ length: 5000 }, (_, at) => ({ name: `c${at}`, args: ["a", "b", "c"] })) },
};
/** What one evaluation may cost, on the machine for which limits are set. */
const LIMIT_MS = 100;

const stageOf = (spec: StageSpec) =>
  new Stage({ apiVersion: "", kind: "Stage", metadata: { name: "x" }, spec }, context);
const byKey = (key: string): StageSpec => ({ selector: { matchExpressions: [{ key, operator: "Exists" }] } });
const byCel = (expression: string): StageSpec => ({ selector: { matchExpressions: [{ cel: { expression } }] } });
const times = (count: number, text: string) => text.repeat(count);

suite("expressions of Stages that cost too much", () => {
  const hostile: Readonly<Record<string, StageSpec>> = {
    "outputs that double": byKey(`(.,.)${times(60, "|(.,.)")}`),
    "products of lists": byKey(".spec.containers[].args[] , .spec.containers[] | select(.spec.containers[]?)"),
    "lists in lists": byKey(`.spec.containers | map(.args)${times(20, " | map(., .)")}`),
    "comparisons of everything": byKey(".spec.containers[] == .spec.containers[]"),
    "texts of everything": byKey(`(.,.,.,.)|(.,.,.,.)|(.,.,.,.)|tostring`),
    "CEL over lists of lists": byCel(
      "self.spec.containers.all(a, self.spec.containers.all(b, self.spec.containers.all(c, a.name != 'x')))",
    ),
    "CEL that joins texts": byCel(
      `size(${times(40, "(")}self.metadata.annotations['text']${times(40, " + 'x')")}) > 0`,
    ),
  };
  for (const [name, spec] of Object.entries(hostile)) {
    test(name, () => {
      const stage = stageOf(spec);
      const ms = processorMs(() => {
        try {
          stage.matches(big);
        } catch (error) {
          if (!(error instanceof TooCostly)) throw error;
        }
      });
      assertBelow(ms, LIMIT_MS, name);
    });
  }

  test("are ended by the meter", () => {
    assert.throws(() => stageOf(byKey(`(.,.)${times(60, "|(.,.)")}`)).matches(big), TooCostly);
    const weightFrom = { expressionFrom: `(.,.)${times(60, "|(.,.)")}` };
    assert.throws(() => stageOf({ weightFrom }).weight(big), TooCostly);
    const delay = { durationFrom: weightFrom };
    assert.throws(() => stageOf({ delay }).delayRange(big, 0), TooCostly);
  });

  test("are rejected if they are very long or deep", () => {
    for (const source of [
      `${times(9000, "(")}.`,
      times(20_000, "."),
      `.a${times(3000, "|.a")}`,
      `.${times(3000, "[0]")}`,
    ]) {
      assert.throws(() => stageOf(byKey(source)), /not supported/);
    }
    assert.throws(() => stageOf(byCel(`1${times(9000, "+1")}`)), /not supported|exceeded/);
  });
});

suite("templates of Stages that cost too much", () => {
  const hostile: Readonly<Record<string, string>> = {
    "ranges in ranges": `${times(5, "{{ range $.spec.containers }}")}x${times(5, "{{ end }}")}`,
    "empty ranges in ranges": `${times(5, "{{ range $.spec.containers }}")}${times(5, "{{ end }}")}`,
    "a range over a number": "{{ range 1000000000 }}{{ end }}",
    "lists that double": `{{ $x := list 1 }}${times(60, "{{ $x = list $x $x }}")}{{ $x }}`,
    "JSON of lists that double": `{{ $x := list 1 }}${times(60, "{{ $x = list $x $x }}")}{{ toJson $x }}`,
    "YAML of lists that double": `{{ $x := list 1 }}${times(60, "{{ $x = list $x $x }}")}{{ YAML $x }}`,
    "texts that double": `{{ $x := "ab" }}${times(60, "{{ $x = print $x $x }}")}`,
    "replaced texts": `{{ $x := .metadata.annotations.text }}{{ $x = replace "x" $x $x }}`,
    "joined texts": `{{ join .metadata.annotations.text (splitList "" .metadata.annotations.text) }}`,
    "a deep indent": "{{ YAML . 100000000 }}",
    "templates that call themselves":
      '{{ define "a" }}{{ template "a" . }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
    "a long result": `${times(20, "{{ .metadata.annotations.text }}")}`,
  };
  for (const [name, template] of Object.entries(hostile)) {
    test(name, () => {
      const { patch } = stageOf({ next: { patches: [{ root: "status", template }] } }).steps[0] ?? {};
      const functions = stageFunctions(0, 0);
      const ms = processorMs(() => assert.throws(() => patch?.render(big, functions), TooCostly));
      assertBelow(ms, LIMIT_MS, name);
    });
  }
});

test("a Stage that costs too much is logged once and ignored, and others are played", async () => {
  const own = new SimulatedCluster();
  await own.simulate();
  const add = async (name: string, spec: JsonObject) => {
    const object = { apiVersion: "kwok.x-k8s.io/v1alpha1", kind: "Stage", metadata: { name } };
    const value = { ...object, spec: { resourceRef: { apiGroup: "v1", kind: "Pod" }, ...spec } };
    const key = `${own.resources.keys.root}kwok.x-k8s.io/stages/${name}`;
    await own.store.put(key, Buffer.from(JSON.stringify(value)), 0);
    await own.clock.advance(0);
  };
  await add("costly", byKey(`(.,.)${times(60, "|(.,.)")}`));
  await add("ready", {
    selector: { matchExpressions: [{ key: ".status.phase", operator: "In", values: ["Pending"] }] },
    next: { statusTemplate: "phase: Running" },
  });
  for (const name of ["one", "two"]) {
    await own.run(name);
    assert.equal((await own.stored(name)).status?.phase, "Running");
  }
  assert.equal(own.problems.length, 1);
  assert.match(String(own.problems[0]), /Stage costly is ignored/);
  await own.stop();
});
