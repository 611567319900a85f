import type { Json } from "../../../../base/api/object.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import { type Piece, pieces, type Token } from "./tokens.ts";

/** A part of a value: what it begins with, and the fields to follow from there. */
export interface Operand {
  readonly from:
    | { readonly type: "literal"; readonly value: Json }
    | { readonly type: "dot" }
    | { readonly type: "variable"; readonly name: string }
    | { readonly type: "function"; readonly name: string }
    | { readonly type: "pipeline"; readonly pipeline: Pipeline };
  readonly fields: readonly string[];
}

/** Commands, each with the result of the one before as its last argument. */
export interface Pipeline {
  readonly commands: readonly (readonly Operand[])[];
  /** Variables that get the result. */
  readonly variables: readonly string[];
  /** Whether the variables exist already. */
  readonly isAssignment: boolean;
}

/** A part of a template. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "print"; readonly pipeline: Pipeline }
  /** `{{ template "name" pipeline }}` */
  | { readonly type: "template"; readonly name: string; readonly pipeline: Pipeline | undefined }
  | Block;

/** A template and those that it defines. */
export interface ParsedTemplate {
  readonly parts: readonly Part[];
  readonly defined: ReadonlyMap<string, readonly Part[]>;
}

/** An action with a body. */
export interface Block {
  readonly type: "if" | "range" | "with";
  readonly pipeline: Pipeline;
  readonly body: readonly Part[];
  readonly otherwise: readonly Part[];
}

const BLOCKS = ["if", "range", "with"];

/** Longer and deeper templates are not supported. */
const MAX_LENGTH = 200_000;
const MAX_DEPTH = 50;

/** Parses a template of Go's text/template. Throws for what is not supported: break and continue. */
export function parseTemplate(template: string): ParsedTemplate {
  if (template.length > MAX_LENGTH) throw new Error(`a template of ${template.length} characters is not supported`);
  const reader = new TemplateReader(pieces(template));
  const { parts, end } = reader.list();
  if (end !== undefined) throw new Error(`unexpected {{ ${end} }} in template`);
  return { parts, defined: reader.defined };
}

class TemplateReader {
  readonly #pieces: readonly Piece[];
  readonly defined = new Map<string, readonly Part[]>();
  #at = 0;
  #depth = 0;
  /** The tokens after `else` of the list that was read last. */
  #rest: readonly Token[] = [];

  constructor(all: readonly Piece[]) {
    this.#pieces = all;
  }

  /** The parts up to `end` or `else`. */
  list(): { parts: Part[]; end: "end" | "else" | undefined } {
    const parts: Part[] = [];
    for (let piece = this.#pieces[this.#at++]; piece !== undefined; piece = this.#pieces[this.#at++]) {
      if ("text" in piece) {
        parts.push({ type: "text", text: piece.text });
        continue;
      }
      const [first, ...rest] = piece.tokens;
      const word = first?.type === "word" ? first.text : "";
      if (word === "end" || word === "else") {
        this.#rest = rest;
        return { parts, end: word };
      }
      if (word === "break" || word === "continue") throw new Error(`{{ ${word} }} is not supported in templates`);
      if (word === "define" || word === "block") {
        const name = nameIn(rest[0]);
        this.defined.set(name, this.#body(word));
        if (word === "block") parts.push({ type: "template", name, pipeline: pipelineIn(rest.slice(1)) });
        continue;
      }
      if (word === "template") {
        parts.push({ type: "template", name: nameIn(rest[0]), pipeline: pipelineIn(rest.slice(1)) });
        continue;
      }
      if (BLOCKS.includes(word)) parts.push(this.#block(word as "if", rest));
      else parts.push({ type: "print", pipeline: new PipelineReader(piece.tokens).all() });
    }
    return { parts, end: undefined };
  }

  /** The parts up to `end`. */
  #body(word: string): Part[] {
    const { parts, end } = this.#inner();
    if (end !== "end") throw new Error(`{{ ${word} }} without {{ end }}`);
    return parts;
  }

  #inner(): ReturnType<TemplateReader["list"]> {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Error("a template with so many blocks in each other is not supported");
    const inner = this.list();
    this.#depth -= 1;
    return inner;
  }

  #block(type: "if" | "range" | "with", tokens: readonly Token[]): Part {
    const pipeline = new PipelineReader(tokens).all();
    const { parts: body, end } = this.#inner();
    if (end === undefined) throw new Error(`{{ ${type} }} without {{ end }}`);
    if (end === "end") return { type, pipeline, body, otherwise: [] };
    const [next, ...rest] = this.#rest;
    // {{ else if … }} has the same end as the whole.
    if (next) return { type, pipeline, body, otherwise: [this.#otherwise(next.text as "if", rest)] };
    return { type, pipeline, body, otherwise: this.#body("else") };
  }

  /** `else if` counts as another level. */
  #otherwise(type: "if" | "range" | "with", tokens: readonly Token[]): Part {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Error("a template with so many branches is not supported");
    const block = this.#block(type, tokens);
    this.#depth -= 1;
    return block;
  }
}

function nameIn(token: Token | undefined): string {
  if (token?.type !== "string") throw new Error("a template without a name");
  return token.text.startsWith("`") ? token.text.slice(1, -1) : (parseJsonText(token.text) as string);
}

const pipelineIn = (tokens: readonly Token[]): Pipeline | undefined =>
  tokens.length === 0 ? undefined : new PipelineReader(tokens).all();

class PipelineReader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  all(): Pipeline {
    const pipeline = this.#pipeline();
    if (this.#at < this.#tokens.length) throw new Error(`unexpected ${this.#tokens[this.#at]?.text} in action`);
    return pipeline;
  }

  #pipeline(): Pipeline {
    const { variables, isAssignment } = this.#declaration();
    const commands: Operand[][] = [[]];
    for (let token = this.#tokens[this.#at]; token && token.text !== ")"; token = this.#tokens[this.#at]) {
      if (token.type === "mark" && token.text === "|") {
        this.#at += 1;
        commands.push([]);
      } else commands.at(-1)?.push(this.#operand());
    }
    if (commands.some((command) => command.length === 0)) throw new Error("missing value in action");
    return { commands, variables, isAssignment };
  }

  /** `$a :=`, `$a =` or `$a, $b :=`. */
  #declaration(): { variables: string[]; isAssignment: boolean } {
    const isEnd = ({ text, type }: Token) => type === "mark" && (text === ":=" || text === "=");
    const end = this.#tokens.findIndex((token, index) => index > this.#at && isEnd(token));
    const before = this.#tokens.slice(this.#at, end);
    const isDeclaration = end >= 0 && before.every(({ type, text }) => type === "variable" || text === ",");
    if (!isDeclaration) return { variables: [], isAssignment: false };
    const isAssignment = this.#tokens[end]?.text === "=";
    this.#at = end + 1;
    return { variables: before.filter(({ type }) => type === "variable").map(({ text }) => text), isAssignment };
  }

  #operand(): Operand {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error("missing value in action");
    const from = this.#origin(token);
    const fields = token.type === "field" ? [token.text.slice(1)] : [];
    for (let next = this.#tokens[this.#at]; next?.type === "field" && !next.isApart; next = this.#tokens[this.#at]) {
      fields.push(next.text.slice(1));
      this.#at += 1;
    }
    return { from, fields };
  }

  #origin({ type, text }: Token): Operand["from"] {
    if (type === "field" || type === "dot") return { type: "dot" };
    if (type === "variable") return { type: "variable", name: text };
    if (type === "number") return { type: "literal", value: Number(text) };
    if (type === "string") {
      return { type: "literal", value: text.startsWith("`") ? text.slice(1, -1) : (parseJsonText(text) as string) };
    }
    if (type === "word") {
      const literals: Readonly<Record<string, Json>> = { true: true, false: false, nil: null };
      return Object.hasOwn(literals, text)
        ? { type: "literal", value: literals[text] ?? null }
        : { type: "function", name: text };
    }
    if (text !== "(") throw new Error(`unexpected ${text} in action`);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Error("an action with so many parentheses is not supported");
    const inner = this.#pipeline();
    this.#depth -= 1;
    this.#at += 1;
    return { type: "pipeline", pipeline: inner };
  }
}
