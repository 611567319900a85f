/** How each test of a program ended, by its name. */
export type Results = ReadonlyMap<string, string>;

interface SpecReport {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
}

// Some tests have a seed or the time in their names.
const MADE_UP = /\d{12,}/g;

/** Reads what a test program printed with `-test.v`: tests and subtests that passed, failed or were skipped. */
export function readTests(output: string): Results {
  const ends = output.matchAll(/^ *--- (PASS|FAIL|SKIP): (\S+) \(/gm);
  const states = { PASS: "passed", FAIL: "failed", SKIP: "skipped" } as const;
  return byName(Array.from(ends, ([, state = "FAIL", name = ""]) => [name, states[state as keyof typeof states]]));
}

/** Reads a JSON report of Ginkgo. */
export function readSpecs(report: string): Results {
  const suites = JSON.parse(report) as { SpecReports: SpecReport[] | null }[];
  const specs = suites.flatMap((suite) => suite.SpecReports ?? []).filter((one) => one.LeafNodeType === "It");
  return byName(
    specs.map((spec) => [[...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" "), spec.State]),
  );
}

/** Tests of one name are told apart by their order. */
function byName(tests: readonly (readonly [name: string, state: string])[]): Results {
  const results = new Map<string, string>();
  for (const [given, state] of tests) {
    const name = given.replaceAll(MADE_UP, "N");
    let unique = name;
    for (let count = 2; results.has(unique); count++) unique = `${name} (${count})`;
    results.set(unique, state);
  }
  return results;
}

/** How many tests ended in a way. */
export function count(results: Results, state: string): number {
  return [...results.values()].filter((one) => one === state).length;
}

/** The tests that passed with the real server and not with ours, and how they ended. */
export function differences(real: Results, ours: Results): string[] {
  const passed = [...real].filter(([, state]) => state === "passed").map(([name]) => name);
  return passed
    .filter((name) => ours.get(name) !== "passed")
    .map((name) => `${name}: ${ours.get(name) ?? "did not run"}`);
}
