import { getMember } from "../util/members.ts";
import { badRequest } from "./api-error.ts";
import { printValue } from "./field-error.ts";
import { labelValue, qualifiedName } from "./names.ts";

type Operator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
  /** The values as a set if there are many, because a list matches every object. */
  readonly lookup?: ReadonlySet<string>;
}

/** Conditions that must all be met. An empty list matches everything. */
export type LabelSelector = readonly LabelRequirement[];

type Labels = Readonly<Record<string, string | undefined>>;

/** Whether the labels meet every requirement. */
export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  return selector.every((requirement) => matchesRequirement(requirement, labels ?? {}));
}

function matchesRequirement({ key, operator, values, lookup }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isAmong = (one: string) => lookup?.has(one) ?? values.includes(one);
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && isAmong(value);
    case "!=":
    case "notin":
      return value === undefined || !isAmong(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      if (value === undefined || !/^[+-]?\d+$/.test(value)) return false;
      const difference = BigInt(value) - BigInt(values[0] ?? "0");
      return operator === "gt" ? difference > 0n : difference < 0n;
    }
  }
}

const SPECIAL = new Set(["=", "!", "(", ")", ",", ">", "<"]);
const OPERATORS: Readonly<Record<string, Operator>> = {
  "=": "=",
  "==": "==",
  "!=": "!=",
  in: "in",
  notin: "notin",
  ">": "gt",
  "<": "lt",
};
const SYMBOLS = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);

/** Splits a selector into symbols and words. Words are separated by blanks and special characters. */
function tokenize(text: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (/[ \t\r\n]/.test(character)) {
      at += 1;
    } else if (SPECIAL.has(character)) {
      const pair = text.slice(at, at + 2);
      const token = pair === "==" || pair === "!=" ? pair : character;
      tokens.push(token);
      at += token.length;
    } else {
      let end = at;
      while (end < text.length && !SPECIAL.has(text.charAt(end)) && !/[ \t\r\n]/.test(text.charAt(end))) end += 1;
      tokens.push(text.slice(at, end));
      at = end;
    }
  }
  return tokens;
}

const MANY = 16;

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  /** The next token, or "" at the end. */
  peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  next(): string {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.peek();
      if (token === "") return requirements;
      if (SYMBOLS.has(token) && token !== "!") fail(`found '${token}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const after = this.next();
      if (after === "") return requirements;
      if (after !== ",") fail(`found '${after}', expected: ',' or 'end of string'`);
      const following = this.peek();
      if (following === "" || (SYMBOLS.has(following) && following !== "!")) {
        fail(`found '${following}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.peek() === "!";
    if (isNegated) this.next();
    const key = this.next();
    if (key === "" || SYMBOLS.has(key)) failRequirement(`found '${key}', expected: identifier`);
    const keyErrors = qualifiedName(key);
    if (keyErrors.length > 0) failRequirement(`<nil>: Invalid value: ${printValue(key)}: ${keyErrors.join("; ")}`);
    const following = this.peek();
    if (isNegated || following === "" || following === ",") {
      return { key, operator: isNegated ? "!" : "exists", values: [] };
    }
    const word = this.next();
    const operator = getMember(OPERATORS, word);
    if (operator === undefined) failRequirement(`found '${word}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === "in" || operator === "notin" ? this.#set() : [this.#value()];
    return checked(key, operator, values);
  }

  #value(): string {
    const token = this.peek();
    // Compat: `key=` followed by the end or a comma means the empty value, as in `labels.Parse`.
    if (token === "" || token === ",") return "";
    this.next();
    if (SYMBOLS.has(token)) failRequirement(`found '${token}', expected: identifier`);
    return token;
  }

  #set(): string[] {
    const open = this.next();
    if (open !== "(") failRequirement(`found '${open}' expected: '('`);
    const values: string[] = [];
    let expectsValue = true;
    for (;;) {
      const token = this.next();
      if (token === ")") {
        if (expectsValue) values.push("");
        return [...new Set(values)].sort();
      }
      if (token === ",") {
        if (expectsValue) values.push("");
        expectsValue = true;
      } else if (token === "" || SYMBOLS.has(token) || !expectsValue) {
        const expected = expectsValue && values.length === 0 ? "',', ')' or identifier" : "',' or ')'";
        failRequirement(`found '${token}', expected: ${expected}`);
      } else {
        values.push(token);
        expectsValue = false;
      }
    }
  }
}

function checked(key: string, operator: Operator, values: readonly string[]): LabelRequirement {
  if ((operator === "gt" || operator === "lt") && !/^[+-]?\d+$/.test(values[0] ?? "")) {
    const text = `Invalid value: ${printValue(values[0] ?? "")}: for 'Gt', 'Lt' operators, the value must be an integer`;
    failRequirement(`values[0]: ${text}`);
  }
  for (const [index, value] of values.entries()) {
    const errors = labelValue(value);
    if (errors.length > 0) {
      failRequirement(`values[${index}][${key}]: Invalid value: ${printValue(value)}: ${errors.join("; ")}`);
    }
  }
  return values.length > MANY ? { key, operator, values, lookup: new Set(values) } : { key, operator, values };
}

function fail(text: string): never {
  throw badRequest(text);
}

function failRequirement(text: string): never {
  throw badRequest(`unable to parse requirement: ${text}`);
}

/** Parses a label selector. Throws BadRequest with the message of kube-apiserver. */
export function parseLabelSelector(text: string): LabelSelector {
  return new Parser(text).parse();
}
