import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AREAS } from "../test/clients/kubectl/areas.ts";
import { countCalls } from "../test/clients/kubectl/compare.ts";
import { allNames, parseNames } from "../test/conformance/names.ts";
import { parseGaps } from "../test/golden/gaps.ts";
import { compatibilityWords } from "./compatibility-words.ts";

/**
 * Writes docs/compatibility.md: in words what works, then what of the recorded behaviour of kube-apiserver is reproduced, and every
 * step that is not, with its reason. Sources: the golden scenarios, test/known-gaps.txt and test/golden/gap-reasons.json, the
 * names in test/conformance/, and the cases in test/clients/kubectl/.
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
  /** Why steps fail whose `scenario/step` matches the pattern; the first match counts. */
  readonly gaps: readonly { readonly match: string; readonly reason: string }[];
  /** Where we differ on purpose, and in what. */
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
    "## Where we differ on purpose",
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

function recordedLines(all: readonly Scenario[], gaps: readonly string[]): string[] {
  const lines = [
    "## Recorded requests",
    "",
    "A recorded step is one request with the answer of the real kube-apiserver (1.37.1, and 1.36.4 or 1.35.8 for versions only they have). CI replays all of",
    "them and fails when a step that is not listed here differs, or a listed one passes.",
    "",
    "| area | recorded steps | equal | gaps |",
    "|---|---|---|---|",
  ];
  const gapsOf = (scenario: Scenario) => gaps.filter((gap) => gap.startsWith(`${scenario.name}/`));
  let total = 0;
  for (const area of [...new Set(all.map((scenario) => scenario.area))].sort()) {
    const members = all.filter((scenario) => scenario.area === area);
    const steps = members.reduce((sum, scenario) => sum + countSteps(scenario.steps), 0);
    const missing = members.reduce((sum, scenario) => sum + gapsOf(scenario).length, 0);
    total += steps;
    lines.push(`| ${area.replace(/^. /, "")} | ${steps} | ${steps - missing} | ${missing} |`);
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
    `Of the official conformance tests of release 1.37, ${allNames(alone).length} need nothing but an API server. Binnacle on etcd`,
    `with its own controllers passes ${alone.passing.length} of them (\`npm run conformance\`; \`test/conformance/passing.txt\`).`,
    ...waitingLines("waiting.txt", alone.waiting),
    "",
    `Of ${allNames(cluster).length} more that need controllers, a scheduler and nodes, but no container that runs, ${cluster.passing.length} pass on kube-apiserver with the`,
    "real controller manager and scheduler and nodes of KWOK around it, and on Binnacle with the same around it",
    "(`npm run conformance -- --cluster`; `test/conformance/cluster.txt`).",
    ...waitingLines("cluster-waiting.txt", cluster.waiting),
    "",
  ];
}

function kubectlLines(): string[] {
  const calls = AREAS.flatMap(({ cases }) => cases).reduce((sum, script) => sum + countCalls(script), 0);
  return [
    "## kubectl",
    "",
    `${calls.toLocaleString("en")} commands of kubectl, in the ${AREAS.length} areas of the Kubernetes project's own scripts about it, end with the same code and write the`,
    "same with Binnacle as with kube-apiserver, both without controllers (`npm run kubectl`; `test/clients/kubectl/areas/`).",
    "",
  ];
}

function waitingLines(file: string, waiting: ReadonlyMap<string, readonly string[]>): string[] {
  const lines = [...waiting].map(([reason, { length }]) => `- ${length} for ${reason}`);
  return lines.length > 0 ? ["", `The others (\`test/conformance/${file}\`) are waiting:`, "", ...lines] : [];
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
