import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { checkSync } from "recheck";

// The checker in JavaScript, not the one in Java or native code.
process.env.RECHECK_BACKEND = "pure";
const CHECK_MS = 20_000;
const TRIES = 3;

/**
 * Expressions that may take more than linear time, by their source, with the reason why no text can be long enough for
 * that to matter: a check of the length that is made before.
 */
const BOUNDED: Readonly<Record<string, string>> = {};

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

const LITERAL =
  /(?<=[=(,:[!&|?{};\s])\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)(?=[\s;.,)\]:}])/g;
const BUILT = /new RegExp\(\s*("(?:\\.|[^"\\])*"|`[^`]*`|[A-Z0-9_]+),?\s*\)/g;
const CONSTANT = /^(?:export )?const ([A-Z0-9_]+) =\s*("(?:\\.|[^"\\])*"|`[^`]*`);/gm;

/** The expressions in the text of a file: literals, and those that are built of the file's own constants. */
function expressionsOf(file: string, text: string): Expression[] {
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
    .map((part, at) => (at % 2 === 1 ? textOf(part, constants, place) : String.raw({ raw: [part] })))
    .join("");
}

/** What is wrong with an expression; undefined when its time is linear in the length of any text. */
function problemOf({ source, flags }: Expression): string | undefined {
  const check = (timeout: number) => checkSync(source, flags.replace(/[dv]/g, ""), { timeout });
  let found = check(CHECK_MS);
  // Where automata cannot tell, recheck tries random texts and extrapolates: what is slow is found to be slow every time. On a
  // machine with other work it may not come to an end in time.
  const isByChance = () => found.status === "unknown" || (found.status === "vulnerable" && found.checker === "fuzz");
  for (let turn = 1; turn < TRIES && isByChance(); turn++) found = check(CHECK_MS * 2 ** turn);
  if (found.status === "safe") return undefined;
  return found.status === "vulnerable" ? found.complexity.summary : `not known: ${found.error.kind}`;
}

suite("regular expressions", () => {
  const root = path.join(import.meta.dirname, "..", "src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/\.(?:test|suite)\.ts$/.test(file),
  );
  const all = files.flatMap((file) => expressionsOf(file, readFileSync(path.join(root, file), "utf8")));

  test("none of src takes more than linear time", (t) => {
    t.diagnostic(`${all.length} expressions`);
    assert.ok(all.length > 150, "they are found at all");
    const unsafe = new Map(
      all.flatMap((expression) => {
        const problem = problemOf(expression);
        return problem === undefined ? [] : [[expression.source, `${expression.place}: ${problem}`] as const];
      }),
    );
    const unknown = [...unsafe].filter(([source]) => !Object.hasOwn(BOUNDED, source)).map(([, problem]) => problem);
    assert.deepEqual(unknown, []);
    const outdated = Object.keys(BOUNDED).filter((source) => !unsafe.has(source));
    assert.deepEqual(outdated, [], "these need no exception");
  });

  test("the check finds what it is for", () => {
    const text =
      'const A = "^(a|a)*$";\nconst B = new RegExp(A);\nconst c = text.replace(/ +$/, "");\n// as in /x*x*x*$/ .\n';
    const found = expressionsOf("x.ts", text).map((expression) => [expression.place, problemOf(expression)]);
    assert.deepEqual(found, [
      ["x.ts:3", "2nd degree polynomial"],
      ["x.ts:2", "exponential"],
    ]);
  });
});
