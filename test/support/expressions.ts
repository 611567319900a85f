import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { checkSync } from "recheck";

// The checker in JavaScript, not the one in Java or native code.
process.env.RECHECK_BACKEND = "pure";
const SEEDS = 4;

/** A regular expression of a source file. */
export interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

const LITERAL =
  /(?<=[=(,:[!&|?{};\s])\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)(?=[\s;.,)\]:}])/g;
const BUILT = /new RegExp\(\s*("(?:\\.|[^"\\])*"|`[^`]*`|[A-Z0-9_]+),?\s*\)/g;
const CONSTANT = /^(?:export )?const ([A-Z0-9_]+) =\s*("(?:\\.|[^"\\])*"|`[^`]*`);/gm;

/** The expressions in the text of a file: literals, and those that are built of the file's own constants. */
export function expressionsOf(file: string, text: string): Expression[] {
  const code = text.replace(/^\s*(?:\*|\/\*|\/\/).*$/gm, "");
  const constants = new Map([...code.matchAll(CONSTANT)].map(([, name = "", value = ""]) => [name, value]));
  const at = (index: number) => `${file}:${code.slice(0, index).split("\n").length}`;
  const literals = [...code.matchAll(LITERAL)].map(({ 1: source = "", 2: flags = "", index }) => {
    return { place: at(index), source, flags };
  });
  const built = [...code.matchAll(BUILT)].map(({ 1: value = "", index }) => {
    return { place: at(index), source: textOf(value, constants, at(index)), flags: "" };
  });
  const others = code.split("RegExp(").length - 1 - built.length;
  assert.equal(
    others,
    0,
    `${file}: an expression that is built of more than the file's own constants cannot be checked`,
  );
  return [...literals.filter(isExpression), ...built];
}

/** What stands between two divisions is none. */
function isExpression({ source, flags }: Expression): boolean {
  try {
    return new RegExp(source, flags) !== undefined;
  } catch {
    return false;
  }
}

function textOf(value: string, constants: ReadonlyMap<string, string>, place: string): string {
  if (value.startsWith('"')) return JSON.parse(value) as string;
  if (!value.startsWith("`")) {
    const known = constants.get(value);
    assert.ok(known !== undefined, `${place}: ${value} is no constant of the file`);
    return textOf(known, constants, place);
  }
  const parts = value.slice(1, -1).split(/\$\{([^}]*)\}/);
  return parts
    .map((part, at) => (at % 2 === 1 ? textOf(part, constants, place) : part.replace(/\\([\\`$])/g, "$1")))
    .join("");
}

/**
 * What is wrong with an expression; undefined if its time is linear in the length of any text. There is no time limit,
 * so the verdict does not depend on the machine: recheck ends by its own limits of states, steps and attempts.
 */
export function problemOf({ source, flags }: Expression): string | undefined {
  const check = (randomSeed: number) => checkSync(source, flags.replace(/[dv]/g, ""), { timeout: null, randomSeed });
  let found = check(0);
  // Where automata cannot tell, recheck tries random texts and extrapolates. Slow expressions are slow with every seed.
  for (let seed = 1; seed < SEEDS && found.status === "vulnerable" && found.checker === "fuzz"; seed++)
    found = check(seed);
  if (found.status === "safe") return undefined;
  return found.status === "vulnerable" ? found.complexity.summary : `not known: ${found.error.kind}`;
}

/** All expressions of src/, tests aside. */
export function ownExpressions(): Expression[] {
  const root = path.join(import.meta.dirname, "..", "..", "src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/\.(?:test|suite)\.ts$/.test(file),
  );
  return files.flatMap((file) => expressionsOf(file, readFileSync(path.join(root, file), "utf8")));
}

/** How the list of proven expressions names one. */
export const literalOf = ({ source, flags }: Expression): string => `/${source}/${flags}`;
