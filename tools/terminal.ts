import { writeFileSync } from "node:fs";
import path from "node:path";
import { Reader } from "../test/support/pages.ts";

/** What the recording of the README shows, in this order. */
export const RECORDED: readonly string[] = [
  "npx binnacle up --detach",
  "kubectl create deployment web --image=nginx --replicas=3",
  "kubectl rollout status deployment web",
  "kubectl get pods",
  "kubectl create job once --image=busybox",
  "kubectl wait --for=condition=Complete job once",
];

/** A command and what it said. */
export interface Screen {
  readonly command: string;
  readonly said: string;
}

const COLUMNS = 112;
const CHARACTER = 7.25;
const LINE = 17;
const MARGIN = 16;
const BAR = 30;
/** A command is read before its output comes, and the output before the next command. */
const READING_SECONDS = { command: 0.8, output: 1.6 };

/** Runs the commands as a reader of the README would, in an empty folder, and ends what they started. */
export async function record(run: (command: string) => Promise<{ out: string; err: string }>): Promise<Screen[]> {
  const screens: Screen[] = [];
  for (const command of RECORDED) {
    const { out, err } = await run(command);
    screens.push({ command, said: out + err });
  }
  return screens;
}

/** The random ends of the names of Pods, in the order of a list. */
const SUFFIXES = ["4vsvq", "lzwl2", "xqg9w"];

/**
 * What differs from one run to the next: ports, ages, names of Pods, where the reader's home is, and how much of a rollout
 * kubectl sees.
 */
function steady(text: string, home: string): string {
  const suffixes = SUFFIXES.values();
  return text
    .replaceAll(home, "~")
    .replaceAll(/(https:\/\/127\.0\.0\.1):\d+/g, "$1:6443")
    .replaceAll(/^Waiting for deployment .*\n/gm, "")
    .replaceAll(/^(web-[0-9a-f]+-)\w{5}\b/gm, (_, start: string) => `${start}${suffixes.next().value}`)
    .replaceAll(/^(\S+ +1\/1 +Running +0 +)\d+[sm]\d*s?$/gm, "$11s");
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** In lines that fit. */
const wrapped = (line: string): string[] => line.match(new RegExp(`.{1,${COLUMNS}}`, "g")) ?? [""];

interface Row {
  readonly text: string;
  readonly isCommand: boolean;
  readonly at: number;
}

function rowsOf(screens: readonly Screen[], home: string): Row[] {
  let at = 0;
  return screens.flatMap(({ command, said }) => {
    const typed = { text: `$ ${command}`, isCommand: true, at };
    at += READING_SECONDS.command;
    const lines = steady(said, home).trimEnd().split("\n").flatMap(wrapped);
    const shown = [...lines, ...(command === RECORDED.at(-1) ? [] : [""])].map((text) => ({
      text,
      isCommand: false,
      at,
    }));
    at += READING_SECONDS.output;
    return [typed, ...shown];
  });
}

/** A terminal that shows one command after the other, and stays as it is at the end. */
export function terminalSvg(screens: readonly Screen[], home: string): string {
  const rows = rowsOf(screens, home);
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = BAR + rows.length * LINE + MARGIN;
  const lines = rows.map(({ text, isCommand, at }, index) => {
    const y = BAR + (index + 1) * LINE;
    const name = isCommand ? ' class="typed"' : "";
    return `<text x="${MARGIN}" y="${y}"${name} style="animation-delay:${at.toFixed(1)}s">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A terminal: npx binnacle up, a Deployment and a Job</title>
<style>
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre; animation: show 0.01s both; }
.typed { fill: #7ee787; }
@keyframes show { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="18" cy="16" r="5" fill="#ff5f56"/><circle cx="36" cy="16" r="5" fill="#ffbd2e"/><circle cx="54" cy="16" r="5" fill="#27c93f"/>
${lines.join("\n")}
</svg>
`;
}

if (import.meta.main) {
  await using reader = await Reader.open();
  try {
    const screens = await record((command) => reader.run(command));
    writeFileSync(path.join(import.meta.dirname, "..", "docs", "terminal.svg"), terminalSvg(screens, reader.folder));
  } finally {
    await reader.run("binnacle down");
  }
}
