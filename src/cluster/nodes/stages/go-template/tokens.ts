/** A piece of an action: `{{ … }}` of a Go template. */
export interface Token {
  readonly type: "string" | "number" | "variable" | "field" | "dot" | "word" | "mark";
  readonly text: string;
  /** Whether white space stands before it. */
  readonly isApart: boolean;
}

/** A text or an action of a template. */
export type Piece = { readonly text: string } | { readonly tokens: readonly Token[] };

const PATTERNS: readonly [Token["type"], RegExp][] = [
  ["string", /"(?:\\.|[^"\\])*"|`[^`]*`/y],
  ["number", /[+-]?\d+(?:\.\d+)?/y],
  ["variable", /\$(?:[A-Za-z_]\w*)?/y],
  ["field", /\.[A-Za-z_]\w*/y],
  ["dot", /\./y],
  ["word", /[A-Za-z_]\w*/y],
  ["mark", /:=|[=|(),]/y],
];

/** Divides a template into texts and actions. `{{-` and `-}}` remove the white space around an action. */
export function pieces(template: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  let trimsNext = false;
  while (at <= template.length) {
    const begin = template.indexOf("{{", at);
    const text = template.slice(at, begin < 0 ? template.length : begin);
    const trimsThis = begin >= 0 && /^\{\{-\s/.test(template.slice(begin, begin + 4));
    const started = trimsNext ? text.trimStart() : text;
    const trimmed = trimsThis ? started.trimEnd() : started;
    if (trimmed !== "") found.push({ text: trimmed });
    if (begin < 0) break;
    const end = endOfAction(template, begin + 2);
    const inner = template.slice(begin + (trimsThis ? 3 : 2), end);
    trimsNext = /\s-$/.test(inner.slice(-2));
    const code = (trimsNext ? inner.slice(0, -1) : inner).trim();
    if (!code.startsWith("/*")) found.push({ tokens: tokensOf(code) });
    at = end + 2;
  }
  return found;
}

/** The place of the `}}` that ends an action. Those inside of strings do not. */
function endOfAction(template: string, from: number): number {
  for (let at = from; at < template.length; at += 1) {
    const quote = template[at];
    if (template.startsWith("}}", at)) return at;
    if (quote !== '"' && quote !== "`") continue;
    for (at += 1; at < template.length && template[at] !== quote; at += 1) {
      if (quote === '"' && template[at] === "\\") at += 1;
    }
  }
  throw new Error("unclosed action in template");
}

function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length; ) {
    const space = /\s*/y;
    space.lastIndex = at;
    const before = space.exec(code)?.[0] ?? "";
    at += before.length;
    if (at >= code.length) break;
    const [type, text] = tokenAt(code, at);
    tokens.push({ type, text, isApart: before !== "" });
    at += text.length;
  }
  return tokens;
}

function tokenAt(code: string, at: number): [Token["type"], string] {
  for (const [type, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(code)?.[0];
    if (text) return [type, text];
  }
  throw new Error(`unexpected ${JSON.stringify(code[at])} in action {{ ${code} }}`);
}
