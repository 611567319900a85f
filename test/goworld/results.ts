/** How each test of a program ended, by its name. */
export type Results = ReadonlyMap<string, string>;

interface SpecReport {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
}

/** Reads what a test program printed with `-test.v`: tests and subtests that passed, failed or were skipped. */
export function readTests(output: string): Results {
  const ends = output.matchAll(/^ *--- (PASS|FAIL|SKIP): (\S+) \(/gm);
  const states = { PASS: "passed", FAIL: "failed", SKIP: "skipped" } as const;
  return new Map(Array.from(ends, ([, state = "FAIL", name = ""]) => [name, states[state as keyof typeof states]]));
}

/** Reads a JSON report of Ginkgo. Specs of one name are told apart by their order. */
export function readSpecs(report: string): Results {
  const results = new Map<string, string>();
  for (const { SpecReports: specs } of JSON.parse(report) as { SpecReports: SpecReport[] | null }[]) {
    for (const spec of (specs ?? []).filter((one) => one.LeafNodeType === "It")) {
      const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" ");
      let unique = name;
      for (let count = 2; results.has(unique); count++) unique = `${name} (${count})`;
      results.set(unique, spec.State);
    }
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
