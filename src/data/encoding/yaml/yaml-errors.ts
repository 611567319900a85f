import type { YAMLException } from "js-yaml";

/** The part of go-yaml that finds an error. Its scanner counts lines from one, its parser from zero. */
type Finder = "scanner" | "parser" | "none";

interface Finding {
  readonly text: string;
  readonly finder: Finder;
  /** The number of lines that go-yaml has read on when it finds the error. */
  readonly linesLater?: number;
}

const scanner = (text: string, linesLater = 0): Finding => ({ text, finder: "scanner", linesLater });
const parser = (text: string, linesLater = 0): Finding => ({ text, finder: "parser", linesLater });

/** The message of go-yaml for a text in which js-yaml found an error. */
export function explainYaml(error: YAMLException, text: string): string {
  const position = error.mark?.position ?? 0;
  const line = error.mark?.line ?? 0;
  const finding = findingOf(error.reason, text, position);
  if (finding === undefined) return `yaml: ${line > 0 ? `line ${line + 1}: ` : ""}${error.reason}`;
  const seen = line + (finding.linesLater ?? 0);
  // Compat: go-yaml omits "line" on the first line, because a `problem_mark.line` of zero means unknown.
  const number = seen === 0 || finding.finder === "none" ? 0 : finding.finder === "scanner" ? seen + 1 : seen;
  return `yaml: ${number === 0 ? "" : `line ${number}: `}${finding.text}`;
}

function findingOf(reason: string, text: string, position: number): Finding | undefined {
  if (reason.startsWith("bad indentation of a mapping entry")) return misplaced(text, position, "key");
  if (reason.startsWith("end of the stream or a document separator")) {
    return misplaced(text, position, text.trimStart().startsWith("- ") ? "'-' indicator" : "key");
  }
  if (reason.includes("within a flow collection")) return unclosed(text);
  return FINDINGS.find(([part]) => reason.includes(part))?.[1];
}

const FINDINGS: readonly (readonly [string, Finding])[] = [
  // Compat: go-yaml's `max_flow_level` and `max_indents`. Our limit is a tenth of them.
  ["nesting exceeded maxDepth", { text: "exceeded max depth of 10000", finder: "none" }],
  ["quoted scalar", scanner("found unexpected end of stream")],
  ["tab characters", scanner("found character that cannot start any token")],
  ["expected ':' after a mapping key", scanner("could not find expected ':'", 1)],
  ["bad indentation of a sequence entry", scanner("could not find expected ':'", 1)],
  ["duplication of", parser("did not find expected key")],
  ["a line break is expected", scanner("did not find expected comment or line break")],
  ["unknown escape sequence", scanner("found unknown escape character")],
  ["expected hexadecimal character", scanner("did not find expected hexdecimal number")],
  ["non-printable characters", { text: "control characters are not allowed", finder: "none" }],
  ["directives end mark", scanner("found unknown directive name")],
];

function misplaced(text: string, position: number, expected: string): Finding {
  const lineStart = text.lastIndexOf("\n", position - 1) + 1;
  if (text[lineStart] === "\t") return scanner("found character that cannot start any token");
  switch (text[position]) {
    case ":":
      return scanner("mapping values are not allowed in this context");
    case "@":
    case "`":
    case "%":
      return scanner("found character that cannot start any token");
    case "}":
    case "]":
      return parser("did not find expected node content");
    case "-":
      if (position > lineStart) return scanner("block sequence entries are not allowed in this context");
  }
  return parser(`did not find expected ${expected}`);
}

function unclosed(text: string): Finding {
  const end = text.trimEnd();
  if (/[[{,]$/.test(end)) return parser("did not find expected node content", 1);
  const open: string[] = [];
  for (const character of end) {
    if (character === "[" || character === "{") open.push(character);
    else if (character === "]" || character === "}") open.pop();
  }
  return parser(`did not find expected ',' or '${open.at(-1) === "{" ? "}" : "]"}'`, 1);
}
