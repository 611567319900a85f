/** The names of the tests, and what is known of each. */
export interface Names {
  /** Those that pass; one that fails is a failure of the run. */
  readonly passing: readonly string[];
  /** Those that do not pass yet, by what they are waiting for. */
  readonly waiting: ReadonlyMap<string, readonly string[]>;
}

/** How one test ended. */
export interface Outcome {
  readonly name: string;
  /** `missing`: the suite did not run it, or skipped it. */
  readonly state: "passed" | "failed" | "missing";
  readonly seconds: number;
  /** Why it failed. */
  readonly message: string;
}

/** Tests that run one after the other in one process. */
export interface Share {
  readonly names: readonly string[];
}

/** When which tests run. */
export interface Plan {
  /** Shares that run side by side. */
  readonly parallel: readonly Share[];
  /** Runs when nothing else does. */
  readonly serial: Share;
  /** Those that wait for the server's history to be compacted. */
  readonly compacting: Share;
  /** Those that are not known to pass, each alone: one that never ends must not keep others from running. */
  readonly doubtful: readonly Share[];
}

const PASSING_HEADING = "# Official conformance tests that pass. Written by: npm run compare conformance -- --write\n";
const WAITING_HEADING = "# Official conformance tests that do not pass, below what they are waiting for.\n";

/** Reads both lists; lines starting with a single # are comments. Throws when a name is there twice. */
export function parseNames(passing: string, waiting: string): Names {
  const byReason = new Map<string, string[]>();
  let reason = "nothing";
  for (const line of waiting.split("\n").map((text) => text.trim())) {
    if (line.startsWith("## ")) reason = line.slice(3);
    else if (isName(line)) byReason.set(reason, [...(byReason.get(reason) ?? []), line]);
  }
  const names = { passing: passing.split("\n").filter(isName), waiting: byReason };
  const all = allNames(names);
  const twice = all.find((name, i) => all.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`listed twice: ${twice}`);
  return names;
}

const isName = (line: string) => line !== "" && !line.startsWith("#");

/** Every name of both lists. */
export function allNames({ passing, waiting }: Names): string[] {
  return [...passing, ...[...waiting.values()].flat()];
}

/** The texts of both lists, sorted, as `parseNames` reads them. */
export function printNames({ passing, waiting }: Names): { passing: string; waiting: string } {
  const lines = (names: readonly string[]) => names.toSorted().map((name) => `${name}\n`);
  const parts = [...waiting].filter(([, names]) => names.length > 0);
  return {
    passing: PASSING_HEADING + lines(passing).join(""),
    waiting: WAITING_HEADING + parts.map(([reason, names]) => `\n## ${reason}\n${lines(names).join("")}`).join(""),
  };
}

/** What is wrong with the lists after a run: listed tests that did not pass, and others that did. */
export function compareNames(
  outcomes: readonly Outcome[],
  names: Names,
): { lost: readonly Outcome[]; won: readonly Outcome[] } {
  const listed = new Set(names.passing);
  return {
    lost: outcomes.filter(({ name, state }) => listed.has(name) && state !== "passed"),
    won: outcomes.filter(({ name, state }) => !listed.has(name) && state === "passed"),
  };
}

/** The lists once every test that has passed is listed as passing. No test is ever taken off. */
export function withPassed(names: Names, outcomes: readonly Outcome[]): Names {
  const { won } = compareNames(outcomes, names);
  const moved = new Set(won.map(({ name }) => name));
  const rest = [...names.waiting].map(([reason, held]) => [reason, held.filter((name) => !moved.has(name))] as const);
  return { passing: [...names.passing, ...moved], waiting: new Map(rest) };
}

/** Deals the wanted names out to processes: neighbours often take equally long, so that each goes elsewhere. */
export function planRun({ passing }: Names, wanted: readonly string[], processes: number): Plan {
  const known = new Set(passing);
  const passed = wanted.filter((name) => known.has(name));
  const isCompacting = (name: string) => name.includes("compacted away");
  const isSerial = (name: string) => name.includes("[Serial]");
  const others = passed.filter((name) => !isSerial(name) && !isCompacting(name));
  const shares = Array.from({ length: processes }, (_, share) => ({
    names: others.filter((_name, i) => i % processes === share),
  }));
  return {
    parallel: shares.filter((share) => share.names.length > 0),
    serial: { names: passed.filter(isSerial) },
    compacting: { names: passed.filter(isCompacting) },
    doubtful: wanted.filter((name) => !known.has(name)).map((name) => ({ names: [name] })),
  };
}

/** A regular expression of the Go language that matches exactly these tests. */
export function focusOn(names: readonly string[]): string {
  return names.map((name) => `${name.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)}$`).join("|");
}
