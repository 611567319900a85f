import { writeFileSync } from "node:fs";
import path from "node:path";
import { defaultOf, type FeatureGate, featureGates } from "../src/base/api/feature-gates.ts";

const INTRODUCTION = `# Feature gates

Written by \`npm run docs feature-gates\`; never edited by hand. Kubernetes hides what is not finished behind feature gates.
These decide something about requests to Binnacle; stage and default are those of kube-apiserver 1.37.

    binnacle serve --feature-gates ContainerStopSignals=true,EmptyDirVolumeMode=true

While a gate is off, its fields are dropped from what clients send, unless the stored object has them already; OpenAPI
documents and \`kubectl explain\` show them all the same. As kube-apiserver does, Binnacle refuses to start when it is given a
gate that it does not know, or a value that a gate cannot have. \`AllAlpha\` and \`AllBeta\` are refused, too: what they would
switch on is not all there.
`;

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const onOff = (value: boolean) => (value ? "on" : "off");

function section(title: string, text: string, gates: readonly [string, FeatureGate][]): string {
  const lines = gates.map(([name, { stage, since, default: upstream, effect, difference }]) =>
    row([`\`${name}\``, `${stage} since ${since}`, onOff(upstream), difference ? `${effect}. ${difference}` : effect]),
  );
  const head = [row(["gate", "stage", "default upstream", "decides about"]), "|---|---|---|---|"];
  return [`## ${title}`, "", text, "", ...head, ...lines, ""].join("\n");
}

/** The text of docs/reference/feature-gates.md. */
export function featureGatesText(): string {
  const gates = Object.entries(featureGates);
  const fixed = gates.filter(([, { implemented }]) => implemented !== "both");
  return [
    INTRODUCTION,
    section(
      "Gates that can be switched",
      "On, fields are kept and validated as kube-apiserver with the same gate does.",
      gates.filter(([, { implemented }]) => implemented === "both"),
    ),
    section(
      "Always off",
      "Only what kube-apiserver does with the gate off is implemented; `=true` is refused.",
      fixed.filter(([, gate]) => !defaultOf(gate)),
    ),
    section(
      "Always on",
      "Only what kube-apiserver does with the gate on is implemented; `=false` is refused.",
      fixed.filter(([, gate]) => defaultOf(gate)),
    ),
  ].join("\n");
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(path.join(import.meta.dirname, "..", "docs", "reference", "feature-gates.md"), featureGatesText());
}
