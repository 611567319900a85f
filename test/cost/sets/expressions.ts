import { ExpressionMaker } from "../../fuzz/cel/expressions.ts";
import { parseType } from "../../fuzz/cel/types.ts";
import type { Random } from "../../fuzz/random.ts";
import { costlyPattern, upTo } from "./fields.ts";

/** Expressions for the values that an expression may use, by type. */
export interface Sources {
  readonly texts: readonly string[];
  readonly lists: readonly string[];
  readonly anything: readonly string[];
}

/** `L` is a list of strings, `S` a string, `A` any value, `P` a literal pattern, `N` a number. All are true or fail. */
const TEMPLATES: readonly string[] = [
  "L.all(a, L.all(b, a != b || a == b))",
  "L.all(a, L.exists_one(b, a == b) || true)",
  "L.all(a, L.all(b, L.all(c, a != b || b != c || true)))",
  "L.all(a, a in L)",
  "L.all(a, S.matches(a) || true)",
  "L.all(a, a.matches(P) || true)",
  "L.all(a, S.contains(a) || S.indexOf(a) < 0)",
  "L.all(a, S.replace(a, S).size() >= 0)",
  "L.map(a, a + S).size() >= 0",
  "L.map(a, L).size() >= 0",
  "L.map(a, S.split('')).flatten().size() >= 0",
  "L.filter(a, L.exists(b, b.startsWith(a))).size() >= 0",
  "L.sort().distinct().reverse().size() >= 0",
  "L.sortBy(a, a).size() >= 0",
  "L.transformMap(i, v, v + S).size() >= 0",
  "sets.equivalent(L, L) || sets.intersects(L, L) || sets.contains(L, L) || true",
  "L.map(a, [a]) == L.map(a, [a])",
  "L.join(S).split('').size() >= 0",
  "L.join(S).size() >= 0",
  "L.all(a, isURL(a) || isIP(a) || isCIDR(a) || isQuantity(a) || isSemver(a) || true)",
  "L.all(a, !format.dns1123Subdomain().validate(a).hasValue() || true)",
  "S.matches(S) || true",
  "S.matches(P) || true",
  "S.findAll(P).size() >= 0",
  "S.split('').map(a, S.split('')).size() >= 0",
  "S.replace('a', S).replace('a', S).size() >= 0",
  "(S + S + S + S).split('a').join(S + S).size() >= 0",
  "S.lowerAscii().upperAscii().trim().lastIndexOf(S) >= -1",
  "S.substring(0, S.size() / 2).lastIndexOf('b') >= -1",
  "strings.quote(S).size() >= 0",
  "lists.range(N).all(i, S.charAt(i % (S.size() + 1)).size() >= 0)",
  "lists.range(N).all(i, lists.range(N).all(j, i + j >= 0))",
  "lists.range(N).map(i, L).size() >= 0",
  "lists.range(N).map(i, string(i) + S).distinct().size() >= 0",
  "lists.range(N).map(i, lists.range(N)).flatten().sum() >= 0",
  "lists.range(N).map(i, duration(string(i) + 's')).max() >= duration('0s')",
  "A == A",
  "[A, A, A].distinct().size() >= 0",
  "[A, A, A, A].exists_one(a, a == A) || true",
  "'%s %s %s'.format([A, A, A]).size() >= 0",
  "lists.range(N).all(i, '%s'.format([A]).size() >= 0)",
  "lists.range(N).all(i, A == A)",
  "isQuantity(S) || url('http://a/' + S).getEscapedPath().size() >= 0 || true",
  "'%.300f'.format([1.5]).size() > 0",
];

/** A true expression that takes much for little data; some are random ones of the CEL fuzzer. */
export function costlyExpression(random: Random, sources: Sources): string {
  if (random.chance(0.25)) return randomExpression(random, sources, "bool");
  const number = upTo(random, 3000);
  const template = random.pick(TEMPLATES);
  return template.replace(/\b[LSAPN]\b/g, (hole) => {
    if (hole === "L") return random.pick(sources.lists);
    if (hole === "S") return random.pick(sources.texts);
    if (hole === "A") return random.pick(sources.anything);
    return hole === "N" ? String(number) : JSON.stringify(costlyPattern(random));
  });
}

/** An expression of the CEL fuzzer about these values. */
export function randomExpression(random: Random, { texts, lists }: Sources, type: string): string {
  const variables = [
    ...texts.map((name) => ({ name, type: parseType("string") })),
    ...lists.map((name) => ({ name, type: parseType("list<string>") })),
  ];
  return new ExpressionMaker(random, variables, 0).of(parseType(type), 3 + random.below(4));
}
