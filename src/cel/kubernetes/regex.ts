import type { RE2JS } from "re2js";
import type { Library } from "../library/library.ts";
import { compilePattern } from "../library/regular-expressions.ts";
import { intType, listType, stringType } from "../values/types.ts";
import { CelError, TextList, type Value } from "../values/value.ts";
import { declare, member } from "./declare.ts";

function withPattern(pattern: string, use: (compiled: RE2JS) => Value): Value {
  const compiled = compilePattern(pattern);
  return compiled instanceof CelError ? new CelError(`Illegal regex: ${compiled.message}`) : use(compiled);
}

function find(text: string, pattern: string): Value {
  return withPattern(pattern, (compiled) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? (matcher.group() ?? "") : "";
  });
}

/** Compat: as Go's FindAllString, an empty match right after another match does not count. */
function findAll(text: string, pattern: string, limit: number | bigint = -1): Value {
  return withPattern(pattern, (compiled) => {
    const found: string[] = [];
    const matcher = compiled.matcher(text);
    let end = -1;
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      if (matcher.start() === matcher.end() && matcher.start() === end) continue;
      end = matcher.end();
      found.push(matcher.group() ?? "");
    }
    return new TextList(found);
  });
}

const two = [stringType, stringType];

/** kubernetes.regex: find and findAll, with RE2's syntax. */
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
