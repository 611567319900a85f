import { getMember } from "../util/members.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** Prints JSON like Go: with HTML characters escaped, members in the given order. */
export function printGoJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => getMember(ESCAPES, character) ?? character);
}
