import { isError } from "../values/value.ts";
import { type Assembler, BROKEN } from "./assembler.ts";
import { type Expr, operators } from "./ast.ts";
import { literalOf, RESERVED, signed } from "./grammar.ts";
import type { Tokenized, TokenKind } from "./lexer.ts";
import { EXPRESSION, type Look, look, MEMBER } from "./lookahead.ts";
import { Recognizer } from "./recognizer.ts";
import type { Source } from "./source.ts";

/** Creates the expression of a rule after parsing: cel-go's visitor of a parse tree. */
export type Visit = () => Expr;

/** A missing operand. */
export const NOTHING: Visit = () => BROKEN;

/** The end of a rule. */
export const END: Look = look([], true);
/** The first tokens of an expression. */
export const START: Look = look(EXPRESSION);
/** The first tokens of an operand without a sign. */
export const OPERAND: Look = look(MEMBER);
const SUFFIX = look(["'.'", "'['"], true);
const NAME = look(["IDENTIFIER", "ESC_IDENTIFIER"]);
const FIELD = look(["'?'", "IDENTIFIER", "ESC_IDENTIFIER"]);
const OPTIONAL_START = look(["'?'", ...EXPRESSION]);
const ARGUMENTS = look(["')'", ...EXPRESSION]);

/** An entry of a map or object. Its value may be missing. */
interface Pair {
  readonly key: Visit;
  value?: Visit;
}

/** Compat: VisitMapInitializerList stops at an entry without a colon and value. */
function visitPairs(entries: readonly Pair[]): void {
  for (const { key, value } of entries) {
    if (value === undefined) return;
    key();
    value();
  }
}

/** The rules of CEL.g4 below the operators: members, calls, literals and brackets. */
export abstract class MemberRules extends Recognizer {
  protected readonly assembler: Assembler;

  constructor(source: Source, tokenized: Tokenized, assembler: Assembler) {
    super(source, tokenized);
    this.assembler = assembler;
  }

  protected abstract expr(follow: Look): Visit;

  protected in(kinds: Iterable<TokenKind>): boolean {
    for (const kind of kinds) if (this.is(kind)) return true;
    return false;
  }

  protected operation(at: number, name: string, args: readonly Visit[]): Visit {
    return () => {
      const made = args.map((arg) => arg());
      return this.assembler.call(at, name, made);
    };
  }

  protected isNumber(kind: TokenKind): boolean {
    return kind === "NUM_INT" || kind === "NUM_FLOAT";
  }

  protected member(): Visit {
    const { at } = this.token;
    // Operand of an unfinished suffix, if it stops at an unexpected token.
    let visit: Visit = NOTHING;
    const set = (next: Visit) => {
      visit = next;
    };
    this.rule(
      END,
      () => {
        visit = this.primary();
        for (;;) {
          if (!this.is("'['") && !this.is("'.'")) return;
          this.deeper("member");
          if (this.is("'['")) this.indexed(visit, set);
          else this.selected(at, visit, set);
        }
      },
      "member",
    );
    return visit;
  }

  private indexed(operand: Visit, set: (visit: Visit) => void): void {
    const { at } = this.token;
    let name: string = operators.index;
    const begun = (index: Visit) => set(() => this.operation(at, name, [operand, index])());
    begun(NOTHING);
    this.match("index.[", "'['", OPTIONAL_START);
    this.sync("index.?", OPTIONAL_START);
    if (this.is("'?'")) {
      this.match("index.?", "'?'", START);
      name = operators.optIndex;
    }
    begun(this.expr(look(["']'"])));
    this.match("index.]", "']'", SUFFIX);
  }

  private selected(start: number, operand: Visit, set: (visit: Visit) => void): void {
    const next = this.peek(1);
    if (!FIELD.kinds.has(next)) {
      this.sync("member", SUFFIX);
      this.noChoice(1);
    }
    const { at } = this.token;
    if (next === "IDENTIFIER" && this.peek(2) === "'('") {
      this.match("call..", "'.'", look(["IDENTIFIER"]));
      const { text } = this.token;
      this.match("call.id", "IDENTIFIER", look(["'('"]));
      const open = this.token.at;
      const args: Visit[] = [];
      set(() => {
        const target = operand();
        return this.assembler.memberCall(
          open,
          text,
          target,
          args.map((arg) => arg()),
        );
      });
      this.match("call.(", "'('", ARGUMENTS);
      this.args("call", SUFFIX, args);
      return;
    }
    set(() => {
      operand();
      return { kind: "broken", at: start };
    });
    this.match("select..", "'.'", FIELD);
    const isOptional = this.is("'?'");
    if (isOptional) this.match("select.?", "'?'", NAME);
    const field = this.token.at;
    const name = this.escapeIdent(SUFFIX);
    set(() => {
      const target = operand();
      if (name === undefined) this.assembler.refuse(field, "unsupported ident kind");
      if (!isOptional) return { kind: "select", at, operand: target, field: name ?? "", test: false };
      const key: Expr = { kind: "literal", at: field, value: name ?? "" };
      return this.assembler.plainCall(at, operators.optSelect, [target, key]);
    });
  }

  private args(place: string, after: Look, args: Visit[]): void {
    this.sync(`${place}.args`, ARGUMENTS);
    if (this.in(EXPRESSION)) this.exprList(args);
    this.match(`${place}.)`, "')'", after);
  }

  private exprList(args: Visit[]): void {
    const after = look(["','"], true);
    this.rule(look(["')'"]), () => {
      args.push(this.expr(after));
      while (this.is("','")) {
        this.match("exprList", "','", START);
        args.push(this.expr(after));
      }
    });
  }

  /** The name, if there was one. */
  private escapeIdent(follow: Look): string | undefined {
    let name: string | undefined;
    this.rule(follow, () => {
      this.sync("escapeIdent", NAME);
      if (!this.in(NAME.kinds)) this.noChoice(0);
      const { kind, text } = this.token;
      this.match("escapeIdent", kind, END);
      name = kind === "IDENTIFIER" ? text : text.slice(1, -1);
    });
    return name;
  }

  private primary(): Visit {
    let visit: Visit = NOTHING;
    this.rule(SUFFIX, () => {
      this.sync("primary", OPERAND);
      const { at } = this.token;
      switch (this.token.kind) {
        case "'('":
          this.match("nested.(", "'('", START);
          visit = this.expr(look(["')'"]));
          this.match("nested.)", "')'", END);
          return;
        case "'['": {
          const elements: Visit[] = [];
          visit = () => ({ kind: "list", at, elements: elements.map((element) => element()), optional: new Set() });
          this.aggregate("'['", "']'", OPTIONAL_START, () => this.listInit(elements));
          return;
        }
        case "'{'": {
          const entries: Pair[] = [];
          visit = () => {
            visitPairs(entries);
            return { kind: "map", at, entries: [] };
          };
          this.aggregate("'{'", "'}'", OPTIONAL_START, () => this.mapInit(entries));
          return;
        }
        case "'.'":
        case "IDENTIFIER":
          this.named((named) => {
            visit = named;
          });
          return;
        default:
          if (!OPERAND.kinds.has(this.token.kind)) this.noChoice(0);
          visit = this.literal();
      }
    });
    return visit;
  }

  private named(set: (visit: Visit) => void): void {
    const start = this.is("'.'") ? 1 : 0;
    if (this.peek(start) !== "IDENTIFIER") this.noChoice(start);
    let ahead = start;
    while (this.peek(ahead + 1) === "'.'" && this.peek(ahead + 2) === "IDENTIFIER") ahead += 2;
    const isObject = this.peek(ahead + 1) === "'{'";
    const { at } = this.token;
    const id = this.tokenAhead(start);
    const name = (start === 1 ? "." : "") + id.text;
    const reserved = () => this.assembler.refuse(at, `reserved identifier: ${id.text}`);
    const isReserved = RESERVED.has(id.text);
    if (!isObject) set(isReserved ? reserved : () => ({ kind: "ident", at: id.at, name }));
    if (start === 1) this.match("primary..", "'.'", look(["IDENTIFIER"]));
    this.match("primary.id", "IDENTIFIER", END);
    if (isObject) {
      while (this.is("'.'")) {
        this.match("message..", "'.'", look(["IDENTIFIER"]));
        this.match("message.id", "IDENTIFIER", look(["'.'", "'{'"]));
      }
      const entries: Pair[] = [];
      set(() => {
        visitPairs(entries);
        return { kind: "struct", at: id.at, typeName: name, fields: [] };
      });
      this.aggregate("'{'", "'}'", FIELD, () => this.fieldInit(entries));
    } else if (this.is("'('")) {
      const open = this.token.at;
      const args: Visit[] = [];
      if (!isReserved) set(() => this.operation(open, name, args)());
      this.match("global.(", "'('", ARGUMENTS);
      this.args("global", END, args);
    }
  }

  /** Items between brackets, with an optional trailing comma. */
  private aggregate(open: TokenKind, close: TokenKind, item: Look, items: () => void): void {
    const start = look([...item.kinds, "','", close]);
    const end = look(["','", close]);
    this.match(`aggregate.${open}`, open, start);
    this.sync(`aggregate.${close}`, start);
    if (this.in(item.kinds)) items();
    this.sync(`aggregate.,${close}`, end);
    if (this.is("','")) this.match("aggregate.,", "','", look([close]));
    this.match(`aggregate.end${close}`, close, END);
  }

  private listInit(elements: Visit[]): void {
    const after = look(["','"], true);
    this.rule(look(["','", "']'"]), () => {
      elements.push(this.optExpr(after));
      while (this.is("','") && OPTIONAL_START.kinds.has(this.peek(1))) {
        this.match("listInit", "','", OPTIONAL_START);
        elements.push(this.optExpr(after));
      }
    });
  }

  private mapInit(entries: Pair[]): void {
    this.entries("mapInit", OPTIONAL_START, (follow) => this.optExpr(follow), entries);
  }

  private fieldInit(entries: Pair[]): void {
    const { at } = this.token;
    this.entries("fieldInit", FIELD, (follow) => this.optField(follow, at), entries);
  }

  private entries(place: string, start: Look, key: (follow: Look) => Visit, entries: Pair[]): void {
    const colon = look(["':'"]);
    const entry = () => {
      const pair: Pair = { key: key(colon) };
      entries.push(pair);
      this.match(`${place}.:`, "':'", START);
      pair.value = this.expr(look(["','"], true));
    };
    this.rule(look(["','", "'}'"]), () => {
      entry();
      while (this.is("','") && start.kinds.has(this.peek(1))) {
        this.match(`${place}.,`, "','", start);
        entry();
      }
    });
  }

  private optExpr(follow: Look): Visit {
    let visit: Visit = NOTHING;
    this.rule(follow, () => {
      this.sync("optExpr", OPTIONAL_START);
      if (this.is("'?'")) this.match("optExpr", "'?'", START);
      visit = this.expr(END);
    });
    return visit;
  }

  private optField(follow: Look, list: number): Visit {
    let name: string | undefined;
    this.rule(follow, () => {
      this.sync("optField", FIELD);
      if (this.is("'?'")) this.match("optField", "'?'", NAME);
      name = this.escapeIdent(END);
    });
    return () => (name === undefined ? this.assembler.refuse(list, "unsupported ident kind") : BROKEN);
  }

  private literal(): Visit {
    let visit: Visit = NOTHING;
    const { at } = this.token;
    this.rule(END, () => {
      const isNegative = this.is("'-'");
      if (isNegative) {
        if (!this.isNumber(this.peek(1))) this.noChoice(1);
        this.match("literal.-", "'-'", look(["NUM_INT", "NUM_FLOAT"]));
      }
      const { kind, text } = this.token;
      visit = () => {
        const value = (isNegative ? signed(kind, text) : literalOf(kind, text)) ?? null;
        return isError(value) ? this.assembler.refuse(at, value.message) : { kind: "literal", at, value };
      };
      this.match("literal", kind, END);
    });
    return visit;
  }
}
