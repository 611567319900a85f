import type { Answer } from "./cases.ts";

/** The answers of the cases of an area, by title. */
export type Transcript = ReadonlyMap<string, readonly Answer[]>;

/**
 * A transcript as text: `# ` begins a case and `$ ` a step; `> ` is a line of standard output, `! ` one of standard error,
 * `>>` and `!!` their last lines when they do not end, and `= ` the exit code unless it is 0.
 */
export function printTranscript(transcript: Transcript): string {
  return [...transcript].map(([title, answers]) => `# ${title}\n${answers.map(printAnswer).join("")}`).join("\n");
}

/** One answer as it stands in a transcript. */
export function printAnswer({ step, code, stdout, stderr }: Answer): string {
  const end = code === 0 ? "" : `= ${code}\n`;
  return `$ ${JSON.stringify(step).slice(1, -1)}\n${printStream(">", stdout)}${printStream("!", stderr)}${end}`;
}

function printStream(mark: string, text: string): string {
  if (text === "") return "";
  const lines = text.split("\n");
  const last = lines.pop();
  const ended = lines.map((line) => `${mark} ${line}\n`).join("");
  return last === "" ? ended : `${ended}${mark}${mark}${last}\n`;
}

/** Reads what `printTranscript` wrote. */
export function readTranscript(text: string): Transcript {
  const transcript = new Map<string, Answer[]>();
  let answers: Answer[] = [];
  for (const line of text.split("\n")) {
    const rest = line.slice(2);
    if (line === "") continue;
    if (line.startsWith("# ")) {
      answers = [];
      transcript.set(rest, answers);
    } else if (line.startsWith("$ "))
      answers.push({ step: JSON.parse(`"${rest}"`) as string, code: 0, stdout: "", stderr: "" });
    else {
      const answer = answers.pop();
      if (answer === undefined) throw new Error(`a transcript has a line before its first step: ${line}`);
      answers.push(withLine(answer, line.slice(0, 2), rest));
    }
  }
  return transcript;
}

function withLine(answer: Answer, mark: string, rest: string): Answer {
  switch (mark) {
    case "> ":
      return { ...answer, stdout: `${answer.stdout}${rest}\n` };
    case ">>":
      return { ...answer, stdout: answer.stdout + rest };
    case "! ":
      return { ...answer, stderr: `${answer.stderr}${rest}\n` };
    case "!!":
      return { ...answer, stderr: answer.stderr + rest };
    case "= ":
      return { ...answer, code: Number(rest) };
    default:
      throw new Error(`a transcript has no lines that begin with ${mark}`);
  }
}
