import { GrowingList } from "../values/lists.ts";
import { EntryMap } from "../values/maps.ts";
import { CelError, ListValue, MapValue, type Value } from "../values/value.ts";
import type { Frame, Run } from "./frame.ts";
import { goTypeOf } from "./qualifier.ts";

/** A comprehension with the indices of its variables in `Frame.locals`. */
export interface Fold {
  readonly range: Run;
  readonly init: Run;
  readonly condition: Run;
  readonly step: Run;
  readonly result: Run;
  readonly accumulator: number;
  readonly first: number;
  /** -1 for comprehensions with one variable. */
  readonly second: number;
}

/** Reads the accumulator, which is initialized on first read. */
export function readAccumulator(index: number, init: Run): Run {
  return (frame) => {
    const value = frame.locals[index];
    return value === undefined ? initialize(frame, index, init) : value;
  };
}

function initialize(frame: Frame, index: number, init: Run): Value {
  const value = ownAccumulator(init(frame));
  frame.locals[index] = value;
  return value;
}

/** Makes an empty list or map growable for the steps of the comprehension. */
function ownAccumulator(value: Value): Value {
  if (value instanceof ListValue && value.size === 0) return new GrowingList([], 0);
  if (value instanceof MapValue && value.size === 0) return new EntryMap(true);
  return value;
}

/** Evaluates a comprehension. */
export function foldRun(fold: Fold): Run {
  return (frame) => {
    const range = fold.range(frame);
    if (range instanceof CelError) return range;
    const { locals } = frame;
    locals[fold.accumulator] = undefined;
    if (range instanceof ListValue) foldList(frame, fold, range);
    else if (range instanceof MapValue) foldMap(frame, fold, range);
    else return notIterable(range, fold.second >= 0);
    const result = fold.result(frame);
    if (result instanceof EntryMap) result.seal();
    return result;
  };
}

function foldList(frame: Frame, fold: Fold, range: ListValue): void {
  const { locals } = frame;
  const { size } = range;
  for (let i = 0; i < size; i++) {
    if (fold.second < 0) locals[fold.first] = range.at(i);
    else {
      locals[fold.first] = i;
      locals[fold.second] = range.at(i);
    }
    if (fold.condition(frame) === false) return;
    locals[fold.accumulator] = fold.step(frame);
  }
}

function foldMap(frame: Frame, fold: Fold, range: MapValue): void {
  const { locals } = frame;
  for (const key of range.keys()) {
    locals[fold.first] = key;
    if (fold.second >= 0) locals[fold.second] = range.find(key) as Value;
    if (fold.condition(frame) === false) return;
    locals[fold.accumulator] = fold.step(frame);
  }
}

function notIterable(range: Value, isTwo: boolean): CelError {
  const name = goTypeOf(range);
  return new CelError(
    isTwo ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`,
  );
}
