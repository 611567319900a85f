import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricRegistry } from "./metrics.ts";

const textOf = (registry: MetricRegistry): string => Buffer.from(registry.bytes()).toString();

test("sorts families by name, and series and labels by label", () => {
  const registry = new MetricRegistry();
  const total = registry.counter({ name: "b_total", help: "Two\nlines \\", labels: ["verb", "code"] });
  registry.measured("gauge", { name: "a", help: "Half." }, () => 0.5);
  total.of({ verb: "PUT", code: "200" }).add();
  total.of({ code: "200", verb: "GET" }).add(2);
  total.of({ verb: "GET", code: "200" }).add();
  textOf(registry);
  total.of({ verb: 'a"\\\n', code: "" }).add();
  assert.equal(
    textOf(registry),
    `# HELP a Half.
# TYPE a gauge
a 0.5
# HELP b_total Two\\nlines \\\\
# TYPE b_total counter
b_total{code="",verb="a\\"\\\\\\n"} 1
b_total{code="200",verb="GET"} 3
b_total{code="200",verb="PUT"} 1
`,
  );
});

test("histogram buckets are cumulative and include their bound", () => {
  const registry = new MetricRegistry();
  const sizes = registry.histogram({ name: "sizes", help: "h", labels: ["verb"], bounds: [1000, 1e6] });
  for (const size of [1, 1000, 1001, 2e6]) sizes.of({ verb: "GET" }).observe(size);
  assert.deepEqual(textOf(registry).split("\n").slice(2), [
    'sizes_bucket{verb="GET",le="1000"} 2',
    'sizes_bucket{verb="GET",le="1e+06"} 3',
    'sizes_bucket{verb="GET",le="+Inf"} 4',
    'sizes_sum{verb="GET"} 2.002002e+06',
    'sizes_count{verb="GET"} 4',
    "",
  ]);
});

const numbers: readonly (readonly [number, string])[] = [
  [0, "0"],
  [100_000, "100000"],
  [1e6, "1e+06"],
  [345_993_216, "3.45993216e+08"],
  [1_794_770_117.51, "1.79477011751e+09"],
  [0.007459467000000001, "0.007459467000000001"],
  [0.0001, "0.0001"],
  [1.391e-6, "1.391e-06"],
  [1e100, "1e+100"],
  [-2.5, "-2.5"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "+Inf"],
];
for (const [value, text] of numbers) {
  test(`prints ${value} like Go, as ${text}`, () => {
    const registry = new MetricRegistry();
    registry.measured("gauge", { name: "x", help: "" }, () => value);
    assert.equal(textOf(registry).split("\n")[2], `x ${text}`);
  });
}

test("omits families without series", () => {
  const registry = new MetricRegistry();
  registry.measured("gauge", { name: "x", help: "" }, () => undefined);
  registry.counter({ name: "y", help: "", labels: ["a"] });
  assert.equal(textOf(registry), "");
});

test("series above the limit share one series", () => {
  const registry = new MetricRegistry();
  const total = registry.counter({ name: "x", help: "", labels: ["b", "a"], limit: 2 });
  for (let index = 0; index < 100; index++) total.of({ b: String(index), a: "" }).add();
  total.of({ b: "0", a: "" }).add();
  assert.deepEqual(textOf(registry).split("\n").slice(2, -1), [
    'x{a="",b="0"} 2',
    'x{a="",b="1"} 1',
    'x{a="other",b="other"} 98',
  ]);
});

test("reset clears counters and histograms but not gauges, and held series stay valid", () => {
  const registry = new MetricRegistry();
  const counter = registry.counter({ name: "a", help: "" }).of({});
  const gauge = registry.gauge({ name: "b", help: "" }).of({});
  const histogram = registry.histogram({ name: "c", help: "", bounds: [] }).of({});
  counter.add(5);
  gauge.add(5);
  histogram.observe(5);
  registry.reset();
  counter.add();
  const lines = textOf(registry).split("\n");
  assert.deepEqual(
    lines.filter((line) => line !== "" && !line.startsWith("#")),
    ["a 1", "b 5", 'c_bucket{le="+Inf"} 0', "c_sum 0", "c_count 0"],
  );
});

test("rejects a duplicate metric name", () => {
  const registry = new MetricRegistry();
  registry.counter({ name: "a", help: "" });
  assert.throws(() => registry.gauge({ name: "a", help: "" }), /metric a is already registered/);
});
