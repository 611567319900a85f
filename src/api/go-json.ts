import { getMember } from "../lib/members.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** JSON as Go writes it: safe to stand in a page, members in the order they are given in. */
export function printGoJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => getMember(ESCAPES, character) ?? character);
}
