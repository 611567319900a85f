import type { Random } from "../random.ts";

const TOKENS = /[A-Za-z_]\w*|\d[\w.]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[&|=!<>]{2}|\s+|[^\s\w]/g;
const STRAY = [
  ..."()[]{}.,?:!&|+-*/%<>=@#$~^;'\"\\`",
  "&&",
  "==",
  "in",
  "true",
  "null",
  "1",
  "0x",
  "1e",
  "'a",
  "b'",
  '"""',
  "r'",
  "\\u12",
  " ",
  "\n",
  "é",
  "🎉",
  "has",
  "package",
  "var",
  "?.",
  "[?",
  ".?",
  "{?",
  "`a-b`",
  "// c",
  "_",
  "1.2.3",
  "9223372036854775808",
  "18446744073709551616u",
  "1u",
  ".5.",
];

/** The beginning of a token, in whole characters. */
function cut(random: Random, token: string): string {
  const points = [...token];
  return points.slice(0, random.below(points.length + 1)).join("");
}

/** The text with some tokens left out, repeated, exchanged or added: what is left may or may not be an expression. */
export function damage(random: Random, text: string): string {
  let tokens: string[] = text.match(TOKENS) ?? [];
  for (let count = 1 + random.below(2); count > 0; count--) {
    const at = random.below(tokens.length + 1);
    const [before, here = "", after] = [tokens.slice(0, at), tokens[at], tokens.slice(at + 1)];
    switch (random.below(6)) {
      case 0:
        tokens = [...before, ...after];
        break;
      case 1:
        tokens = [...before, here, here, ...after];
        break;
      case 2:
        tokens = [...before, ...after.slice(0, 1), here, ...after.slice(1)];
        break;
      case 3:
        tokens = [...before, random.pick(STRAY), ...after];
        break;
      case 4:
        tokens = [...before, random.pick(STRAY), here, ...after];
        break;
      default:
        tokens = random.chance(0.5) ? before : [...before, cut(random, here), ...after];
    }
  }
  return tokens.join("");
}
