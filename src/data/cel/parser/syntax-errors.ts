import { Assembler } from "./assembler.ts";
import { operators } from "./ast.ts";
import { PRODUCTS, RELATIONS, SUMS } from "./grammar.ts";
import type { Tokenized, TokenKind } from "./lexer.ts";
import { type Look, look } from "./lookahead.ts";
import type { Macro } from "./macro.ts";
import { END, MemberRules, NOTHING, OPERAND, START, type Visit } from "./member-rules.ts";
import type { Source, SourceError } from "./source.ts";

/**
 * The syntax errors of tokens that are not an expression, as found by cel-go's ANTLR parser, and the errors about
 * macros and literals that cel-go's visitor finds in the parsed parts.
 */
export function syntaxErrors(source: Source, tokenized: Tokenized, macros: ReadonlyMap<string, Macro>): SourceError[] {
  const assembler = new Assembler(macros);
  const rules = new Rules(source, tokenized, assembler);
  const visit = rules.all();
  visit?.();
  return [...rules.errors, ...assembler.errors];
}

const RELATION = look([...RELATIONS.keys()], true);
const CALCULATION = look([...PRODUCTS.keys(), ...SUMS.keys()], true);

/** The rules of CEL.g4, with the lookahead decisions of an ANTLR parser. */
class Rules extends MemberRules {
  /** The parsed expression. Undefined if the parser gave up. */
  all(): Visit | undefined {
    let visit: Visit = NOTHING;
    const isRead = this.run(() => {
      this.rule(END, () => {
        visit = this.expr(look(["<EOF>"]));
        this.match("start", "<EOF>", END);
      });
    });
    return isRead ? visit : undefined;
  }

  protected expr(follow: Look): Visit {
    const parts = [NOTHING, NOTHING, NOTHING] as [Visit, Visit, Visit];
    let at: number | undefined;
    this.rule(
      follow,
      () => {
        parts[0] = this.logical("'||'", look(["'?'"], true));
        if (!this.is("'?'")) return;
        at = this.token.at;
        this.match("expr.?", "'?'", START);
        parts[1] = this.logical("'||'", look(["':'"]));
        this.match("expr.:", "':'", START);
        parts[2] = this.expr(END);
      },
      "expr",
    );
    return at === undefined ? parts[0] : this.operation(at, operators.conditional, parts);
  }

  private logical(op: "'||'" | "'&&'", follow: Look): Visit {
    const after = look([op], true);
    const term = () => (op === "'||'" ? this.logical("'&&'", after) : this.relation(after, 0));
    const terms: Visit[] = [];
    const places: number[] = [];
    this.rule(follow, () => {
      terms.push(term());
      while (this.is(op)) {
        places.push(this.token.at);
        this.match(op, op, START);
        terms.push(term());
      }
    });
    const name = op === "'||'" ? operators.or : operators.and;
    // The tree is balanced, so the middle operator is its root.
    const at = places[Math.floor(places.length / 2)];
    return at === undefined ? (terms[0] ?? NOTHING) : this.operation(at, name, terms);
  }

  private relation(follow: Look, precedence: number): Visit {
    let visit: Visit = NOTHING;
    this.rule(
      follow,
      () => {
        visit = this.calc(RELATION, 0);
        while (precedence <= 1 && this.in(RELATIONS.keys())) visit = this.operated(visit, RELATIONS, "relation");
      },
      "relation",
    );
    return visit;
  }

  /** An operator and its second operand. */
  private operated(first: Visit, names: ReadonlyMap<TokenKind, string>, place: "relation" | "calc"): Visit {
    const { at, kind } = this.token;
    this.deeper(place);
    this.match(place, kind, START);
    const second =
      place === "relation" ? this.relation(RELATION, 2) : this.calc(CALCULATION, names === PRODUCTS ? 3 : 2);
    return this.operation(at, names.get(kind) as string, [first, second]);
  }

  private calc(follow: Look, precedence: number): Visit {
    let visit: Visit = NOTHING;
    this.rule(
      follow,
      () => {
        visit = this.unary();
        for (;;) {
          if (precedence <= 2 && this.in(PRODUCTS.keys())) visit = this.operated(visit, PRODUCTS, "calc");
          else if (precedence <= 1 && this.in(SUMS.keys())) visit = this.operated(visit, SUMS, "calc");
          else return;
        }
      },
      "calc",
    );
    return visit;
  }

  private unary(): Visit {
    const { at } = this.token;
    // Compat: VisitUnary creates a text for a missing operand.
    let visit: Visit = () => ({ kind: "literal", at, value: "<<error>>" });
    this.rule(CALCULATION, () => {
      this.sync("unary", START);
      if (this.is("'!'")) {
        visit = NOTHING;
        let count = 0;
        const first = this.token.at;
        while (this.is("'!'")) {
          count += 1;
          this.match("unary.!", "'!'", START);
          this.syncLoop("unary.!*", START);
        }
        visit = this.prefixed(first, operators.not, count, this.member());
      } else if (this.is("'-'") && !this.isNumber(this.peek(1))) {
        if (!OPERAND.kinds.has(this.peek(1))) this.noChoice(1);
        visit = NOTHING;
        let count = 1;
        const first = this.token.at;
        this.match("unary.-", "'-'", OPERAND);
        this.syncLoop("unary.-*", OPERAND);
        while (this.is("'-'")) {
          if (!OPERAND.kinds.has(this.peek(1))) this.noChoice(1);
          count += 1;
          this.match("unary.-", "'-'", OPERAND);
          this.syncLoop("unary.-*", OPERAND);
        }
        visit = this.prefixed(first, operators.negate, count, this.member());
      } else if (OPERAND.kinds.has(this.token.kind)) visit = this.member();
      else this.noChoice(0);
    });
    return visit;
  }

  private prefixed(at: number, name: string, count: number, operand: Visit): Visit {
    return count % 2 === 0 ? operand : this.operation(at, name, [operand]);
  }
}
