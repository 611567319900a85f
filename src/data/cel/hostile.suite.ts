import { estimateCost } from "./cost/estimate.ts";
import { Environment } from "./environment.ts";
import { CompileError, compile, program } from "./program.ts";
import { bindLibrary, twoVariableLibrary } from "./standard/comprehensions.ts";
import { literalValidators } from "./standard/literal-validators.ts";
import { optionalLibrary } from "./standard/optional.ts";
import { standardLibrary } from "./standard/standard.ts";
import { dynType, intType, listType, stringType } from "./values/types.ts";
import { ArrayList, isError, type Value } from "./values/value.ts";

export const env: Environment = new Environment({
  libraries: [standardLibrary, optionalLibrary, twoVariableLibrary, bindLibrary, literalValidators],
  variables: { a: intType, s: stringType, l: listType(intType), d: dynType },
});
const values = new Map<string, Value>([
  ["a", 1],
  ["s", "a".repeat(100_000)],
  ["l", new ArrayList(Array.from({ length: 100_000 }, (_, i) => i))],
  ["d", 1],
]);
const LIMIT = 1_000_000;

/** Compiles and evaluates an expression as a validation rule. Returns the error message, or "" if there is no error. */
export function attempt(text: string): string {
  const checked = compile(text, env);
  if (checked instanceof CompileError) return checked.message;
  estimateCost(checked.expr, env);
  const made = program(checked, env);
  if (made instanceof CompileError) return made.message;
  const { value } = made.evaluate((name) => values.get(name), LIMIT);
  return isError(value) ? value.message : "";
}

export const nested = (open: string, inner: string, close: string, depth: number) =>
  open.repeat(depth) + inner + close.repeat(depth);

/** Expressions that are meant to cost much. */
export const hostile: readonly (readonly [string, string])[] = [
  ["parentheses", nested("(", "a", ")", 40_000)],
  ["open parentheses", "(".repeat(90_000)],
  ["open brackets and braces", "[{".repeat(40_000)],
  ["lists", nested("[", "a", "]", 40_000)],
  ["maps", nested("{1:", "a", "}", 20_000)],
  ["calls", nested("size(", "s", ")", 15_000)],
  ["indices", `l${"[0]".repeat(30_000)}`],
  ["fields", `d${".x".repeat(40_000)}`],
  ["sums", `a${"+a".repeat(40_000)}`],
  ["conditions", "true?a:".repeat(10_000)],
  ["and", `true${"&&true".repeat(8_000)}`],
  ["a list of empty lists", `[${"[],".repeat(8_000)}]`],
  ["a list of empty maps", `[${"{},".repeat(8_000)}]`],
  ["negations", `${"!".repeat(90_000)}true`],
  ["minus signs", `${"-".repeat(90_000)}a`],
  ["a long number", "9".repeat(90_000)],
  ["a long fraction", `0.${"9".repeat(90_000)}`],
  ["a long string", `"${"x".repeat(90_000)}"`],
  ["an open string", `"${"x".repeat(90_000)}`],
  ["open triple quotes", `""""`.repeat(20_000)],
  ["prefixes of strings", `br"`.repeat(30_000)],
  ["wrong characters", "@".repeat(90_000)],
  ["words", "a ".repeat(45_000)],
  ["commas", "f(".concat(",".repeat(90_000))],
  ["dots", ".".repeat(90_000)],
  ["operators without a first operand", "%41".repeat(20_000)],
  ["indices without a list", `+a${"[0]".repeat(30_000)}`],
  ["fields without an object", `*a${".b".repeat(40_000)}`],
  ["comparisons without a first operand", "<4".repeat(40_000)],
  ["unfinished conditions", `%1${"?1:".repeat(30_000)}`],
  ["lists after an operator", `%${"[".repeat(30_000)}`],
  ["maps after an operator", `%${"{".repeat(30_000)}`],
  ["calls after an operator", `%${"f(".repeat(30_000)}`],
  ["a long name", "a".repeat(90_000)],
  ["too long", "a".repeat(3_000_000)],
  ["nested macros", `${"l.all(x, ".repeat(200)}true${")".repeat(200)}`],
  ["a loop in a loop", "l.all(x, l.all(y, x * y >= 0))"],
  ["maps of maps of maps", `${"[1].map(x, cel.bind(y, ".repeat(1)}1, {y: y}))`],
  ["types that double", doubling(30)],
  ["a text that doubles", doublingText(40)],
  ["a list that doubles", doublingList(40)],
  ["a pattern of nested repetitions", "s.matches('(a*)*b')"],
  ["a pattern of counted repetitions", "s.matches('(((a{1,100}){1,100}){1,100})')"],
  ["texts within texts", "l.all(x, s.contains('aaaaaaaaab'))"],
  ["growing lists", "l.map(x, l).map(y, y + y).size()"],
  ["entries of a map", "l.transformMap(i, v, v).size()"],
];

function doubling(depth: number): string {
  let text = "1";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, {v${i}: v${i}})`;
  return text;
}
function doublingText(depth: number): string {
  let text = "s";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, v${i} + v${i})`;
  return text;
}
function doublingList(depth: number): string {
  let text = "l";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, v${i} + v${i})`;
  return `${text}.size()`;
}

/** Accepted expressions of nearly 100,000 characters. Other requests wait while a part of the compilation runs. */
export const long: readonly (readonly [string, string])[] = [
  ["comparisons", repeated("a==1", "&&")],
  ["indices", repeated("l[0]>0", "&&")],
  ["macros", repeated("l.all(x,x>1)", "&&")],
  ["folds of lists", repeated("[].map(x,x).size()>0", "&&")],
  ["conditions", `[${repeated("true?1:2", ",")}].size()>0`],
  ["a list of numbers", `a in [${repeated("1", ",")}]`],
  ["a list of empty maps", `[${repeated("{}", ",")}].size()>0`],
  ["bytes", `b"${"x".repeat(99_000)}" == b""`],
];

function repeated(piece: string, separator: string): string {
  const count = Math.floor(99_000 / (piece.length + separator.length));
  return Array.from({ length: count }, () => piece).join(separator);
}
