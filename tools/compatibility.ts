import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AREAS } from "../test/clients/kubectl/areas.ts";
import { countCalls } from "../test/clients/kubectl/compare.ts";
import { allNames, parseNames } from "../test/conformance/names.ts";
import { parseGaps } from "../test/golden/gaps.ts";
import { compatibilityWords } from "./compatibility-words.ts";

/**
 * Writes docs/compatibility.md: what works, the intentional differences, the results of replaying recorded requests, and every step
 * that differs, with its reason. Sources: the golden scenarios, test/known-gaps.txt, test/golden/gap-reasons.json, the names in
 * test/conformance/, and the cases in test/clients/kubectl/.
 */

const root = path.join(import.meta.dirname, "..");
const readText = (...names: string[]) => readFileSync(path.join(root, ...names), "utf8");

interface Scenario {
  readonly name: string;
  readonly area: string;
  readonly title: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly id: string;
  readonly steps?: readonly Step[];
}

interface Reasons {
  /** Why the steps fail whose `scenario/step` matches the pattern. The first match counts. */
  readonly gaps: readonly { readonly match: string; readonly reason: string }[];
  /** Intentional differences from kube-apiserver. */
  readonly differences: readonly { readonly about: string; readonly what: string; readonly why: string }[];
}

function scenarios(): Scenario[] {
  const folder = path.join(root, "test", "golden", "scenarios");
  return readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Scenario);
}

const countSteps = (steps: readonly Step[]): number =>
  steps.reduce((sum, step) => sum + 1 + countSteps(step.steps ?? []), 0);

/** The text of docs/compatibility.md. Throws when a gap has no reason. */
export function compatibilityText(): string {
  const gaps = [...parseGaps(readText("test", "known-gaps.txt"))].sort();
  const reasons = JSON.parse(readText("test", "golden", "gap-reasons.json")) as Reasons;
  const all = scenarios();
  const steps = all.reduce((sum, scenario) => sum + countSteps(scenario.steps), 0);
  const lines = [
    ...compatibilityWords({ steps, gaps: gaps.length, conformance: conformance().passing.length }),
    "## Intentional differences",
    "",
    ...differenceLines(reasons),
    ...recordedLines(all, gaps),
    ...conformanceLines(),
    ...kubectlLines(),
    "## Gaps",
    "",
  ];
  for (const [reason, failing] of byReason(gaps, reasons)) {
    const names = failing.map((step) => `\`${step}\``).join(", ");
    lines.push(`### ${reason}`, "", `${failing.length === 1 ? "1 step" : `${failing.length} steps`}: ${names}`, "");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function differenceLines({ differences }: Reasons): string[] {
  const topics = [...new Set(differences.map(({ about }) => about))].sort();
  return topics.flatMap((topic) => {
    const items = differences.filter(({ about }) => about === topic);
    return [`### ${topic}`, "", ...items.map(({ what, why }) => `- **${what}** ${why}`), ""];
  });
}

/** Titles of areas whose name in the scenarios is not clear by itself. */
const AREA_TITLES: Readonly<Record<string, string>> = {
  "kinds of the table": "kinds of the specification",
  "further kinds": "other kinds",
};

/** Areas in scenarios begin with a letter that orders them. */
function areaTitle(area: string): string {
  const name = area.replace(/^. /, "");
  return AREA_TITLES[name] ?? name;
}

function recordedLines(all: readonly Scenario[], gaps: readonly string[]): string[] {
  const lines = [
    "## Recorded requests",
    "",
    "A recorded step is one request with the response of the real kube-apiserver (1.37.1, or 1.36.4 and 1.35.8 for API versions that only they serve). CI replays all",
    "steps. It fails if a step that is not a known gap differs, or if a known gap passes.",
    "",
    "| area | recorded steps | identical | gaps |",
    "|---|---|---|---|",
  ];
  const gapsOf = (scenario: Scenario) => gaps.filter((gap) => gap.startsWith(`${scenario.name}/`));
  let total = 0;
  for (const area of [...new Set(all.map((scenario) => scenario.area))].sort()) {
    const members = all.filter((scenario) => scenario.area === area);
    const steps = members.reduce((sum, scenario) => sum + countSteps(scenario.steps), 0);
    const missing = members.reduce((sum, scenario) => sum + gapsOf(scenario).length, 0);
    total += steps;
    lines.push(`| ${areaTitle(area)} | ${steps} | ${steps - missing} | ${missing} |`);
  }
  lines.push(`| **all** | ${total} | ${total - gaps.length} | ${gaps.length} |`, "");
  return lines;
}

function conformance(passing = "passing.txt", waiting = "waiting.txt") {
  const read = (file: string) => readText("test", "conformance", file);
  return parseNames(read(passing), read(waiting));
}

function conformanceLines(): string[] {
  const [alone, cluster] = [conformance(), conformance("cluster.txt", "cluster-waiting.txt")];
  return [
    "## Official conformance tests",
    "",
    `Of the official conformance tests of release 1.37, ${allNames(alone).length} need only an API server. Binnacle on etcd`,
    `with its built-in controllers passes ${alone.passing.length} of them (\`npm run compare conformance\`; \`test/conformance/passing.txt\`).`,
    ...waitingLines("waiting.txt", alone.waiting),
    "",
    `Another ${allNames(cluster).length} need controllers, a scheduler and nodes, but no running containers. With the real controller manager and scheduler and KWOK nodes,`,
    `${cluster.passing.length} of them pass, both on kube-apiserver and on Binnacle`,
    "(`npm run compare conformance -- --cluster`; `test/conformance/cluster.txt`).",
    ...waitingLines("cluster-waiting.txt", cluster.waiting),
    "",
  ];
}

function kubectlLines(): string[] {
  const calls = AREAS.flatMap(({ cases }) => cases).reduce((sum, script) => sum + countCalls(script), 0);
  return [
    "## kubectl",
    "",
    `${calls.toLocaleString("en")} kubectl commands, in the ${AREAS.length} areas of the Kubernetes project's own kubectl tests, have the same exit code and output with Binnacle and with`,
    "kube-apiserver, both without controllers (`npm run compare kubectl`; `test/clients/kubectl/areas/`).",
    "",
  ];
}

function waitingLines(file: string, waiting: ReadonlyMap<string, readonly string[]>): string[] {
  const lines = [...waiting].map(([reason, { length }]) => `- ${length} need ${reason}`);
  return lines.length > 0
    ? ["", `The others do not pass in this setup (\`test/conformance/${file}\`):`, "", ...lines]
    : [];
}

function byReason(gaps: readonly string[], { gaps: known }: Reasons): Map<string, string[]> {
  const patterns = known.map(({ match, reason }) => ({
    reason,
    pattern: new RegExp(`^${match.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`),
  }));
  const grouped = new Map<string, string[]>();
  for (const gap of gaps) {
    const found = patterns.find(({ pattern }) => pattern.test(gap));
    if (!found) throw new Error(`${gap} has no reason in test/golden/gap-reasons.json`);
    grouped.set(found.reason, [...(grouped.get(found.reason) ?? []), gap]);
  }
  return grouped;
}

if (import.meta.main) writeFileSync(path.join(root, "docs", "compatibility.md"), compatibilityText());
