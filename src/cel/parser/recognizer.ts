import { escapeText, type Token, type Tokenized, type TokenKind } from "./lexer.ts";
import { type Look, look, recoverable, shown } from "./lookahead.ts";
import type { Source, SourceError } from "./source.ts";

const MAX_RECOVERIES = 30;
const MAX_SKIPPED = 256;
const MAX_DEPTH = 250;

/** Leaves a rule at a token that it cannot use. */
class Mismatch extends Error {}

/** Ends the search for further errors. */
class Halt extends Error {}

/**
 * Goes over tokens as a parser that ANTLR generates does, with its ways of going on after an error: leaving out a
 * token, assuming one, and skipping to one that may follow. That decides which errors there are, and their words.
 * Compat: antlr.DefaultErrorStrategy, and the decisions of cel-go's CELParser.
 */
export class Recognizer {
  readonly errors: SourceError[] = [];
  private readonly tokens: readonly Token[];
  private readonly source: Source;
  private readonly holes: Tokenized["holes"];
  private index = 0;
  /** Whether an error has been reported and no token has been used since. */
  private isRecovering = false;
  private recoveries = 0;
  private depth = 0;
  private lastErrorIndex = -1;
  private lastErrorPlaces = new Set<string>();
  /** What may follow in the rules that called each other, the innermost last. */
  private readonly follows: Look[] = [];
  /** The name of the place in the grammar, by which a second error at it is known. */
  private place = "";

  constructor(source: Source, { tokens, holes }: Tokenized) {
    this.source = source;
    this.tokens = tokens;
    this.holes = holes;
  }

  get token(): Token {
    return this.tokens[this.index] as Token;
  }

  /** A token ahead; after the end there is only the end. */
  tokenAhead(ahead: number): Token {
    return this.tokens[this.index + ahead] ?? (this.tokens[this.tokens.length - 1] as Token);
  }

  peek(ahead: number): TokenKind {
    return this.tokenAhead(ahead).kind;
  }

  is(kind: TokenKind): boolean {
    return this.token.kind === kind;
  }

  /** Runs to the end, or to where an ANTLR parser of cel-go gives up, which is false. */
  run(start: () => void): boolean {
    try {
      start();
      return true;
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      return false;
    }
  }

  /** Runs a rule, after which `follow` may come. */
  rule(follow: Look, body: () => void): void {
    if (++this.depth > MAX_DEPTH * 12) this.halt(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    this.follows.push(follow);
    try {
      body();
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      this.report(this.errorAt, error.message);
      this.recover();
    } finally {
      this.follows.pop();
      this.depth--;
    }
  }

  private errorAt = 0;

  private consume(): void {
    if (!this.is("<EOF>")) this.index++;
  }

  private matched(): void {
    this.isRecovering = false;
    this.lastErrorIndex = -1;
    this.lastErrorPlaces = new Set();
  }

  private report(at: number, message: string): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    this.errors.push({ at, message: `Syntax error: ${message}` });
  }

  private halt(message: string): never {
    this.errors.push({ at: -1, message });
    throw new Halt();
  }

  private name(token: Token = this.token): string {
    return `'${escapeText(token.text)}'`;
  }

  /** What may come at a place, with what may follow the rules it ends. */
  private expected(local: Look): ReadonlySet<TokenKind> {
    const kinds = new Set(local.kinds);
    let { canEnd } = local;
    for (let i = this.follows.length - 1; i >= 0 && canEnd; i--) {
      const follow = this.follows[i] as Look;
      for (const kind of follow.kinds) kinds.add(kind);
      canEnd = follow.canEnd;
    }
    if (canEnd) kinds.add("<EOF>");
    return kinds;
  }

  /** Uses a token; `next` is what may come after it within the rule. */
  match(place: string, kind: TokenKind, next: Look): void {
    this.place = place;
    if (this.is(kind)) {
      this.matched();
      this.consume();
      return;
    }
    this.countRecovery();
    const wanted = look([kind]);
    if (this.dropOne(wanted)) this.consume();
    else if (this.expected(next).has(this.token.kind)) {
      this.report(this.token.at, `missing ${shown(new Set([kind]))} at ${this.name()}`);
    } else this.mismatch(wanted);
  }

  private mismatch(wanted: Look): never {
    this.errorAt = this.token.at;
    throw new Mismatch(`mismatched input ${this.name()} expecting ${shown(this.expected(wanted))}`);
  }

  /** Leaves out a token if the one after it fits. */
  private dropOne(wanted: Look): boolean {
    if (!this.expected(wanted).has(this.peek(1))) return false;
    this.unwanted(wanted);
    this.consume();
    this.matched();
    return true;
  }

  private unwanted(wanted: Look): void {
    this.report(this.token.at, `extraneous input ${this.name()} expecting ${shown(this.expected(wanted))}`);
  }

  /** Looks whether the token fits before a choice, unless an error is being recovered from. */
  sync(place: string, wanted: Look): void {
    this.place = place;
    if (this.isRecovering || wanted.canEnd || wanted.kinds.has(this.token.kind)) return;
    if (!this.dropOne(wanted)) this.mismatch(wanted);
  }

  /** The same at the end of a loop's round, where tokens are skipped instead. */
  syncLoop(place: string, wanted: Look): void {
    this.place = place;
    if (this.isRecovering || wanted.kinds.has(this.token.kind)) return;
    this.unwanted(wanted);
    this.skipTo(new Set([...this.expected(wanted), ...recoverable(this.follows)]));
  }

  /** No choice fits the tokens up to one ahead. */
  noChoice(ahead: number): never {
    const end = Math.min(this.index + ahead, this.tokens.length - 1);
    const last = this.tokens[end] as Token;
    this.errorAt = last.at;
    const input = this.is("<EOF>") ? "<EOF>" : escapeText(this.textOf(this.token.at, last.end));
    const word = /^.(true|false|null)$/s.exec(input)?.[1];
    throw new Mismatch(
      word === undefined
        ? `no viable alternative at input '${input}'`
        : `mismatched input '${word}' expecting IDENTIFIER`,
    );
  }

  /** The text between two places, without what no token was made of. */
  private textOf(from: number, to: number): string {
    let text = "";
    let at = from;
    for (const hole of this.holes) {
      if (hole.at < at || hole.at >= to) continue;
      text += this.source.text.slice(at, hole.at);
      at = hole.end;
    }
    return text + this.source.text.slice(at, to);
  }

  private countRecovery(): void {
    if (this.recoveries++ < MAX_RECOVERIES) return;
    const message = `Syntax error: error recovery attempt limit exceeded: ${MAX_RECOVERIES}`;
    this.errors.push({ at: this.token.at, message });
    throw new Halt();
  }

  private recover(): void {
    this.countRecovery();
    if (this.lastErrorIndex === this.index && this.lastErrorPlaces.has(this.place)) this.consume();
    this.lastErrorIndex = this.index;
    this.lastErrorPlaces.add(this.place);
    this.skipTo(recoverable(this.follows));
  }

  private skipTo(kinds: ReadonlySet<TokenKind>): void {
    let skipped = 0;
    while (!this.is("<EOF>") && !kinds.has(this.token.kind)) {
      if (skipped++ >= MAX_SKIPPED) this.halt(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED}`);
      this.consume();
    }
  }
}
