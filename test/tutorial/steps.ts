import { readFile } from "node:fs/promises";
import path from "node:path";

/** One command of the tutorial and its output on a real cluster. */
export interface Step {
  readonly command: string;
  /** Normalised. */
  readonly output: string;
  /**
   * Set if KWOK cannot answer it, so that the output is written by hand with the words of a kubelet. The recorder does not
   * even run the command if it is "only".
   */
  readonly kubelet: "" | "kubelet" | "kubelet only";
}

/** The commands of the basics tutorial, and those that install releases and wait. */
export type Transcript = "basics" | "releases";

/** The file with the steps of a transcript. */
export function transcriptFile(name: Transcript): string {
  return path.join(import.meta.dirname, `${name}.txt`);
}

const PROMPT = "$ ";
const MARK = "# ";

/** Reads a transcript: each command after `$ `, its output below, and and a mark in front of what KWOK cannot do. */
export function parseTranscript(text: string): Step[] {
  const steps: { command: string; lines: string[]; kubelet: Step["kubelet"] }[] = [];
  let kubelet: Step["kubelet"] = "";
  for (const line of text.split("\n")) {
    if (line.startsWith(MARK)) kubelet = line.slice(MARK.length) as Step["kubelet"];
    else if (line.startsWith(PROMPT)) {
      steps.push({ command: line.slice(PROMPT.length), lines: [], kubelet });
      kubelet = "";
    } else steps.at(-1)?.lines.push(line);
  }
  return steps.map(({ lines, ...step }) => ({ ...step, output: lines.join("\n").trim() }));
}

/** The opposite of `parseTranscript`. */
export function printTranscript(steps: readonly Step[]): string {
  const parts = steps.map(({ command, output, kubelet }) =>
    [...(kubelet ? [`${MARK}${kubelet}`] : []), `${PROMPT}${command}`, ...(output ? [output] : []), ""].join("\n"),
  );
  return parts.join("\n");
}

/** The steps of a transcript. */
export async function readSteps(name: Transcript): Promise<Step[]> {
  return parseTranscript(await readFile(transcriptFile(name), "utf8"));
}

/** Whether a command only reads, so that it can be repeated until the cluster has done its work. */
export function isReading(command: string): boolean {
  return /^(kubectl (get|describe|logs|exec|top|rollout history)|helm (list|history))\b/.test(command);
}

/** Each pattern matches what differs from one run to the next. */
const VARIABLE: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\b[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+\d{4}/g, "TIME"],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d{2}:\d{2}:\d{2} \d{4}/g, "TIME"],
  [/\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\S* \+\d{4} UTC/g, "TIME"],
  [/\b\d+\.\d+\.\d+\.\d+(?=[\s:/,]|$)/g, "ADDRESS"],
  [/(?<=v\d+\.\d+\.\d+)\+binnacle\b/g, ""],
  [/\b[0-9a-f]{32}\b/g, "MACHINE"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID"],
  [/(:\/\/|sha256:)[0-9a-f]{64}\b/g, "$1DIGEST"],
  [/(?<=\/|:|unset>|\s)3[0-2]\d{3}(?=\/TCP)/g, "NODEPORT"],
  // Names that end with five random characters.
  [
    /\b((?:kubernetes-bootcamp|harbour)(?:-[0-9a-f]{6,10})?|once|kube-api-access)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g,
    "$1-RANDOM",
  ],
  [/(?<=\s)\d+(?:s|m(?:\d+s)?)(?= +\(x\d+ over)/g, "AGE"],
  // But not the CPU before memory or a share, such as 5m.
  [/(?<=\s)(?:\d+(?:s|m(?:\d+s)?)|<invalid>)(?=\s|$)(?! +\d+(?:Mi|%))/gm, "AGE"],
];

/** Replaces times, addresses and random names, reduces the space between columns, and drops reports of progress. */
export function normalise(output: string): string {
  let text = output;
  for (const [pattern, by] of VARIABLE) text = text.replace(pattern, by);
  const lines = text
    .split("\n")
    .map((line) => line.trimEnd().replaceAll(/(?<=\S)(?:[ \t]*\t[ \t]*| {2,})/g, "  "))
    .filter((line) => !/^Waiting for deployment/.test(line) && !/^\s+-+(?:\s+-+)*$/.test(line));
  return sortRuns(lines).join("\n").trim();
}

/** Lines about several Pods at once come in any order. */
function sortRuns(lines: readonly string[]): string[] {
  const isOfMany = (line: string) => /^(evicting pod|pod\/\S+ evicted|Warning: )/.test(line);
  const of = lines.filter(isOfMany).sort();
  return lines.map((line) => (isOfMany(line) ? (of.shift() ?? line) : line));
}
