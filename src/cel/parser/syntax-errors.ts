import { RESERVED } from "./grammar.ts";
import type { Tokenized, TokenKind } from "./lexer.ts";
import { EXPRESSION, type Look, look, MEMBER } from "./lookahead.ts";
import { Recognizer } from "./recognizer.ts";
import type { Source, SourceError } from "./source.ts";

/** The syntax errors of tokens that are no expression, as the parser that ANTLR generates for cel-go finds them. */
export function syntaxErrors(source: Source, tokenized: Tokenized): SourceError[] {
  const rules = new Rules(source, tokenized);
  rules.all();
  return [...rules.errors, ...rules.later];
}

const RELATIONS: readonly TokenKind[] = ["'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'"];
const PRODUCTS: readonly TokenKind[] = ["'*'", "'/'", "'%'"];
const SUMS: readonly TokenKind[] = ["'-'", "'+'"];

const END = look([], true);
const START = look(EXPRESSION);
const OPERAND = look(MEMBER);
const RELATION = look(RELATIONS, true);
const CALCULATION = look([...PRODUCTS, ...SUMS], true);
const SUFFIX = look(["'.'", "'['"], true);
const NAME = look(["IDENTIFIER", "ESC_IDENTIFIER"]);
const FIELD = look(["'?'", "IDENTIFIER", "ESC_IDENTIFIER"]);
const OPTIONAL_START = look(["'?'", ...EXPRESSION]);
const ARGUMENTS = look(["')'", ...EXPRESSION]);

/** The rules of CEL.g4, with the choices that an ANTLR parser makes by looking ahead. */
class Rules extends Recognizer {
  all(): void {
    this.run(() => {
      this.rule(END, () => {
        this.expr(look(["<EOF>"]));
        this.match("start", "<EOF>", END);
      });
    });
  }

  private in(kinds: Iterable<TokenKind>): boolean {
    for (const kind of kinds) if (this.is(kind)) return true;
    return false;
  }

  private expr(follow: Look): void {
    this.rule(follow, () => {
      this.logical("'||'", look(["'?'"], true));
      if (!this.is("'?'")) return;
      this.match("expr.?", "'?'", START);
      this.logical("'||'", look(["':'"]));
      this.match("expr.:", "':'", START);
      this.expr(END);
    });
  }

  private logical(op: "'||'" | "'&&'", follow: Look): void {
    const after = look([op], true);
    const term = () => (op === "'||'" ? this.logical("'&&'", after) : this.relation(after, 0));
    this.rule(follow, () => {
      term();
      while (this.is(op)) {
        this.match(op, op, START);
        term();
      }
    });
  }

  private relation(follow: Look, precedence: number): void {
    this.rule(follow, () => {
      this.calc(RELATION, 0);
      while (precedence <= 1 && this.in(RELATIONS)) {
        this.match("relation", this.token.kind, START);
        this.relation(RELATION, 2);
      }
    });
  }

  private calc(follow: Look, precedence: number): void {
    this.rule(follow, () => {
      this.unary();
      for (;;) {
        if (precedence <= 2 && this.in(PRODUCTS)) {
          this.match("calc", this.token.kind, START);
          this.calc(CALCULATION, 3);
        } else if (precedence <= 1 && this.in(SUMS)) {
          this.match("calc", this.token.kind, START);
          this.calc(CALCULATION, 2);
        } else return;
      }
    });
  }

  private unary(): void {
    this.rule(CALCULATION, () => {
      this.sync("unary", START);
      if (this.is("'!'")) {
        while (this.is("'!'")) {
          this.match("unary.!", "'!'", START);
          this.syncLoop("unary.!*", START);
        }
        this.member();
      } else if (this.is("'-'") && !this.isNumber(this.peek(1))) {
        if (!OPERAND.kinds.has(this.peek(1))) this.noChoice(1);
        this.match("unary.-", "'-'", OPERAND);
        this.syncLoop("unary.-*", OPERAND);
        while (this.is("'-'")) {
          if (!OPERAND.kinds.has(this.peek(1))) this.noChoice(1);
          this.match("unary.-", "'-'", OPERAND);
          this.syncLoop("unary.-*", OPERAND);
        }
        this.member();
      } else if (OPERAND.kinds.has(this.token.kind)) this.member();
      else this.noChoice(0);
    });
  }

  private isNumber(kind: TokenKind): boolean {
    return kind === "NUM_INT" || kind === "NUM_FLOAT";
  }

  private member(): void {
    this.rule(END, () => {
      this.primary();
      for (;;) {
        if (this.is("'['")) this.indexed();
        else if (this.is("'.'")) this.selected();
        else return;
      }
    });
  }

  private indexed(): void {
    this.match("index.[", "'['", OPTIONAL_START);
    this.sync("index.?", OPTIONAL_START);
    if (this.is("'?'")) this.match("index.?", "'?'", START);
    this.expr(look(["']'"]));
    this.match("index.]", "']'", SUFFIX);
  }

  private selected(): void {
    const next = this.peek(1);
    if (!FIELD.kinds.has(next)) {
      this.sync("member", SUFFIX);
      this.noChoice(1);
    }
    if (next === "IDENTIFIER" && this.peek(2) === "'('") {
      this.match("call..", "'.'", look(["IDENTIFIER"]));
      this.match("call.id", "IDENTIFIER", look(["'('"]));
      this.match("call.(", "'('", ARGUMENTS);
      this.args("call", SUFFIX);
      return;
    }
    this.match("select..", "'.'", FIELD);
    if (this.is("'?'")) this.match("select.?", "'?'", NAME);
    const { at } = this.token;
    if (!this.escapeIdent(SUFFIX)) this.later.push({ at, message: "unsupported ident kind" });
  }

  private args(place: string, after: Look): void {
    this.sync(`${place}.args`, ARGUMENTS);
    if (this.in(EXPRESSION)) this.exprList();
    this.match(`${place}.)`, "')'", after);
  }

  private exprList(): void {
    const after = look(["','"], true);
    this.rule(look(["')'"]), () => {
      this.expr(after);
      while (this.is("','")) {
        this.match("exprList", "','", START);
        this.expr(after);
      }
    });
  }

  /** Whether there was a name. */
  private escapeIdent(follow: Look): boolean {
    let found = false;
    this.rule(follow, () => {
      this.sync("escapeIdent", NAME);
      if (!this.in(NAME.kinds)) this.noChoice(0);
      this.match("escapeIdent", this.token.kind, END);
      found = true;
    });
    return found;
  }

  private primary(): void {
    this.rule(SUFFIX, () => {
      this.sync("primary", OPERAND);
      switch (this.token.kind) {
        case "'('":
          this.match("nested.(", "'('", START);
          this.expr(look(["')'"]));
          this.match("nested.)", "')'", END);
          return;
        case "'['":
          this.aggregate("'['", "']'", OPTIONAL_START, () => this.listInit());
          return;
        case "'{'":
          this.aggregate("'{'", "'}'", OPTIONAL_START, () => this.mapInit());
          return;
        case "'.'":
        case "IDENTIFIER":
          this.named();
          return;
        default:
          if (OPERAND.kinds.has(this.token.kind)) this.literal();
          else this.noChoice(0);
      }
    });
  }

  private named(): void {
    const start = this.is("'.'") ? 1 : 0;
    if (this.peek(start) !== "IDENTIFIER") this.noChoice(start);
    let ahead = start;
    while (this.peek(ahead + 1) === "'.'" && this.peek(ahead + 2) === "IDENTIFIER") ahead += 2;
    const isObject = this.peek(ahead + 1) === "'{'";
    const { text } = this.tokenAhead(start);
    if (!isObject && RESERVED.has(text))
      this.later.push({ at: this.token.at, message: `reserved identifier: ${text}` });
    if (start === 1) this.match("primary..", "'.'", look(["IDENTIFIER"]));
    this.match("primary.id", "IDENTIFIER", END);
    if (isObject) {
      while (this.is("'.'")) {
        this.match("message..", "'.'", look(["IDENTIFIER"]));
        this.match("message.id", "IDENTIFIER", look(["'.'", "'{'"]));
      }
      this.aggregate("'{'", "'}'", FIELD, () => this.fieldInit());
    } else if (this.is("'('")) {
      this.match("global.(", "'('", ARGUMENTS);
      this.args("global", END);
    }
  }

  /** Items between brackets, with a comma that may follow the last. */
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

  private listInit(): void {
    const after = look(["','"], true);
    this.rule(look(["','", "']'"]), () => {
      this.optExpr(after);
      while (this.is("','") && OPTIONAL_START.kinds.has(this.peek(1))) {
        this.match("listInit", "','", OPTIONAL_START);
        this.optExpr(after);
      }
    });
  }

  private mapInit(): void {
    this.entries("mapInit", OPTIONAL_START, (follow) => this.optExpr(follow));
  }

  private fieldInit(): void {
    this.entries("fieldInit", FIELD, (follow) => this.optField(follow));
  }

  private entries(place: string, start: Look, key: (follow: Look) => void): void {
    const colon = look(["':'"]);
    const entry = () => {
      key(colon);
      this.match(`${place}.:`, "':'", START);
      this.expr(look(["','"], true));
    };
    this.rule(look(["','", "'}'"]), () => {
      entry();
      while (this.is("','") && start.kinds.has(this.peek(1))) {
        this.match(`${place}.,`, "','", start);
        entry();
      }
    });
  }

  private optExpr(follow: Look): void {
    this.rule(follow, () => {
      this.sync("optExpr", OPTIONAL_START);
      if (this.is("'?'")) this.match("optExpr", "'?'", START);
      this.expr(END);
    });
  }

  private optField(follow: Look): void {
    this.rule(follow, () => {
      this.sync("optField", FIELD);
      if (this.is("'?'")) this.match("optField", "'?'", NAME);
      this.escapeIdent(END);
    });
  }

  private literal(): void {
    this.rule(END, () => {
      if (this.is("'-'")) {
        if (!this.isNumber(this.peek(1))) this.noChoice(1);
        this.match("literal.-", "'-'", look(["NUM_INT", "NUM_FLOAT"]));
      }
      this.match("literal", this.token.kind, END);
    });
  }
}
