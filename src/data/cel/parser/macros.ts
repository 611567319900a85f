import { ACCUMULATOR, type Expr, operators } from "./ast.ts";
import { type Builder, copyExpr, type Macro } from "./macro.ts";
import type { SourceError } from "./source.ts";

/** The accumulator name of older releases, which macro variables still must not use. */
const OLD_ACCUMULATOR = "__result__";
const UNUSED = "#unused";

type Named = string | SourceError;

function variable(arg: Expr, refusal: string): Named {
  if (arg.kind !== "ident") return { at: arg.at, message: refusal };
  if (arg.name === ACCUMULATOR || arg.name === OLD_ACCUMULATOR) {
    return { at: arg.at, message: "iteration variable overwrites accumulator variable" };
  }
  return arg.name;
}

/** The parts of a quantifier's fold. */
interface Fold {
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

type MakeFold = (build: Builder, predicate: Expr) => Fold;

const all: MakeFold = (build, predicate) => ({
  accuInit: build.literal(true),
  condition: build.call(operators.notStrictlyFalse, build.accumulator()),
  step: build.call(operators.and, build.accumulator(), predicate),
  result: build.accumulator(),
});

const exists: MakeFold = (build, predicate) => ({
  accuInit: build.literal(false),
  condition: build.call(operators.notStrictlyFalse, build.call(operators.not, build.accumulator())),
  step: build.call(operators.or, build.accumulator(), predicate),
  result: build.accumulator(),
});

const existsOne: MakeFold = (build, predicate) => ({
  accuInit: build.literal(0),
  condition: build.literal(true),
  step: build.call(
    operators.conditional,
    predicate,
    build.call(operators.add, build.accumulator(), build.literal(1)),
    build.accumulator(),
  ),
  result: build.call(operators.equals, build.accumulator(), build.literal(1)),
});

/** A fold that collects the results of `add` for all elements that pass the filter. */
function collect(build: Builder, accuInit: Expr, add: Expr, filter: Expr | undefined): Fold {
  const step = filter === undefined ? add : build.call(operators.conditional, filter, add, build.accumulator());
  return { accuInit, condition: build.literal(true), step, result: build.accumulator() };
}

function toList(build: Builder, transform: Expr, filter: Expr | undefined): Fold {
  const added = build.call(operators.add, build.accumulator(), build.list(transform));
  return collect(build, build.list(), added, filter);
}

const quantifier = (name: string, make: MakeFold): Macro => ({
  name,
  args: 2,
  isMember: true,
  expand(build, args, range) {
    const [name, predicate] = args as [Expr, Expr];
    const iterVar = variable(name, "argument must be a simple name");
    return typeof iterVar === "string" ? build.fold({ range, iterVar, ...make(build, predicate) }) : iterVar;
  },
});

const mapMacro = (count: number): Macro => ({
  name: "map",
  args: count,
  isMember: true,
  expand(build, args, range) {
    const iterVar = variable(args[0] as Expr, "argument is not an identifier");
    if (typeof iterVar !== "string") return iterVar;
    const filter = count === 3 ? args[1] : undefined;
    return build.fold({ range, iterVar, ...toList(build, args[count - 1] as Expr, filter) });
  },
});

const filterMacro: Macro = {
  name: "filter",
  args: 2,
  isMember: true,
  expand(build, args, range) {
    const [element, predicate] = args as [Expr, Expr];
    const iterVar = variable(element, "argument is not an identifier");
    if (typeof iterVar !== "string") return iterVar;
    return build.fold({ range, iterVar, ...toList(build, element, predicate) });
  },
};

const hasMacro: Macro = {
  name: "has",
  args: 1,
  isMember: false,
  expand(build, args) {
    const [tested] = args as [Expr];
    return tested.kind === "select"
      ? build.presence(tested.operand, tested.field)
      : { at: tested.at, message: "invalid argument to has() macro" };
  },
};

/** The macros of the language: has, all, exists, exists_one, map, filter. */
export const standardMacros: readonly Macro[] = [
  hasMacro,
  quantifier("all", all),
  quantifier("exists", exists),
  quantifier("exists_one", existsOne),
  mapMacro(2),
  mapMacro(3),
  filterMacro,
];

const twoVariables = (
  name: string,
  count: number,
  make: (build: Builder, rest: readonly Expr[], first: string) => Fold,
): Macro => ({
  name,
  args: count,
  isMember: true,
  expand(build, args, range) {
    const [first, second, ...rest] = args as [Expr, Expr, ...Expr[]];
    for (const arg of [first, second]) {
      if (arg.kind !== "ident") return { at: arg.at, message: "argument must be a simple name" };
    }
    const iterVar = variable(first, "");
    const iterVar2 = variable(second, "");
    if (iterVar === iterVar2) return { at: second.at, message: `duplicate variable name: ${iterVar}` };
    if (typeof iterVar !== "string") return iterVar;
    if (typeof iterVar2 !== "string") return iterVar2;
    return build.fold({ range, iterVar, iterVar2, ...make(build, rest, iterVar) });
  },
});

const lastOf = (rest: readonly Expr[]) => rest[rest.length - 1] as Expr;
const filterOf = (rest: readonly Expr[]) => (rest.length === 2 ? rest[0] : undefined);

/** The function that transformMap() and transformMapEntry() add entries with. Source text cannot contain this name. */
export const MAP_INSERT = "cel.@mapInsert";

const makeList = (build: Builder, rest: readonly Expr[]) => toList(build, lastOf(rest), filterOf(rest));
const makeMap = (build: Builder, rest: readonly Expr[], key: string) => {
  const added = build.call(MAP_INSERT, build.accumulator(), build.ident(key), lastOf(rest));
  return collect(build, build.map(), added, filterOf(rest));
};
const makeEntries = (build: Builder, rest: readonly Expr[]) => {
  const added = build.call(MAP_INSERT, build.accumulator(), lastOf(rest));
  return collect(build, build.map(), added, filterOf(rest));
};

/** Macros with two variables: index and element, or key and value. */
export const twoVariableMacros: readonly Macro[] = [
  twoVariables("all", 3, (build, [predicate]) => all(build, predicate as Expr)),
  twoVariables("exists", 3, (build, [predicate]) => exists(build, predicate as Expr)),
  twoVariables("existsOne", 3, (build, [predicate]) => existsOne(build, predicate as Expr)),
  twoVariables("exists_one", 3, (build, [predicate]) => existsOne(build, predicate as Expr)),
  ...[3, 4].flatMap((count) => [
    twoVariables("transformList", count, makeList),
    twoVariables("transformMap", count, makeMap),
    twoVariables("transformMapEntry", count, makeEntries),
  ]),
];

/** Binds a variable for `result`. Its value is computed on first use. */
function bind(build: Builder, name: string, value: Expr, result: Expr): Expr {
  return build.fold({
    range: build.list(),
    iterVar: UNUSED,
    accuVar: name,
    accuInit: value,
    condition: build.literal(false),
    step: build.ident(name),
    result,
  });
}

const optionalMacro = (name: string, wrap: (build: Builder, mapped: Expr) => Expr): Macro => ({
  name,
  args: 2,
  isMember: true,
  expand(build, args, target) {
    const [variableName, mapped] = args as [Expr, Expr];
    if (variableName.kind !== "ident") {
      return { at: variableName.at, message: `${name}() variable name must be a simple identifier` };
    }
    const value = build.memberCall("value", copyExpr(target));
    return build.call(
      operators.conditional,
      build.memberCall("hasValue", target),
      wrap(build, bind(build, variableName.name, value, mapped)),
      build.call("optional.none"),
    );
  },
});

/** optMap() and optFlatMap(). */
export const optionalMacros: readonly Macro[] = [
  optionalMacro("optMap", (build, mapped) => build.call("optional.of", mapped)),
  optionalMacro("optFlatMap", (_, mapped) => mapped),
];

/** cel.bind(name, value, result). */
export const bindMacro: Macro = {
  name: "bind",
  args: 3,
  isMember: true,
  expand(build, args, target) {
    const [name, value, result] = args as [Expr, Expr, Expr];
    if (target.kind !== "ident" || target.name !== "cel") return undefined;
    if (name.kind !== "ident") {
      return { at: name.at, message: "cel.bind() variable names must be simple identifiers" };
    }
    return bind(build, name.name, value, result);
  },
};
