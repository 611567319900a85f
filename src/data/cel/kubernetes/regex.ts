import type { RE2JS } from "re2js";
import { matchUnits } from "../../../base/go/regexp.ts";
import { spend } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { compilePattern } from "../standard/regular-expressions.ts";
import { intType, listType, stringType } from "../values/types.ts";
import { CelError, TextList, type Value } from "../values/value.ts";
import { declare, member } from "./declare.ts";

/** What it takes to begin a match anew. */
const UNITS_PER_MATCH = 20;

function withPattern(text: string, pattern: string, use: (compiled: RE2JS) => Value): Value {
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) return new CelError(`Illegal regex: ${compiled.message}`);
  spend(matchUnits(compiled, text));
  return use(compiled);
}

function find(text: string, pattern: string): Value {
  return withPattern(text, pattern, (compiled) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? (matcher.group() ?? "") : "";
  });
}

/** Compat: like Go's FindAllString, ignores an empty match right after another match. */
function findAll(text: string, pattern: string, limit: number | bigint = -1): Value {
  return withPattern(text, pattern, (compiled) => {
    const found: string[] = [];
    const matcher = compiled.matcher(text);
    let end = -1;
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      if (matcher.start() === matcher.end() && matcher.start() === end) continue;
      spend(UNITS_PER_MATCH);
      end = matcher.end();
      found.push(matcher.group() ?? "");
    }
    return new TextList(found);
  });
}

const two = [stringType, stringType];

/** kubernetes.regex: find and findAll, with RE2 syntax. */
export const regexLibrary: Library = {
  name: "kubernetes.regex",
  functions: [
    { ...declare("find", member("string_find_string", [stringType, stringType], stringType, find)), pattern: 1 },
    {
      ...declare(
        "findAll",
        member("string_find_all_string", two, listType(stringType), (text: string, regex: string) =>
          findAll(text, regex),
        ),
        member("string_find_all_string_int", [...two, intType], listType(stringType), findAll),
      ),
      pattern: 1,
    },
  ],
};
