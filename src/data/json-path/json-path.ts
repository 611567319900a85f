import { isObject, type Json } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";
import { compareValues } from "./json-path-compare.ts";
import { type Node, type Params, parseJsonPath } from "./json-path-parse.ts";

/** Evaluates a path: returns the results of its first action. Undefined if there is none, or on an error. */
export type JsonPath = (value: Json, work?: { visits: number }) => readonly Json[] | undefined;

/**
 * Maximum number of values that all paths of one row read and find, and its cells print, together. Differs: kube-apiserver has no
 * limit. Cells above it are empty.
 */
const MAX_VISITS = 30_000;

/** Counts values of a row as visited. Returns false once its limit is exceeded. */
export function visit(work: { visits: number }, count: number): boolean {
  work.visits += count;
  return work.visits <= MAX_VISITS;
}

/** The path cannot be evaluated. */
class PathError extends Error {}

/**
 * Compiles a Kubernetes JSONPath without the surrounding braces. Missing members are no error. Undefined if it is
 * malformed. Upstream: `jsonpath.Parse`, `FindResults`.
 */
export function jsonPath(text: string): JsonPath | undefined {
  const root = parseJsonPath(`{${text}}`);
  const [first] = root ?? [];
  if (root === undefined) return undefined;
  return (value, work = { visits: 0 }) => {
    const walk = new Walk(work);
    try {
      return first === undefined ? undefined : walk.node([value], first);
    } catch (error) {
      if (error instanceof PathError) return undefined;
      throw error;
    }
  };
}

class Walk {
  readonly #work: { visits: number };

  constructor(work: { visits: number }) {
    this.#work = work;
  }

  node(input: readonly Json[], node: Node): readonly Json[] {
    switch (node.type) {
      case "list":
        return node.nodes.reduce<readonly Json[]>((values, one) => this.node(values, one), input);
      case "text":
        return [node.text];
      case "literal":
        this.#visit(input.length);
        return input.map(() => node.value);
      case "field":
        return this.#flat(input, (value) => {
          const member = isObject(value) ? getMember(value, node.name) : undefined;
          return member === undefined ? [] : [member];
        });
      case "array":
        return this.#flat(input, (value) => {
          if (Array.isArray(value)) this.#visit(value.length);
          return value === null ? [] : slice(value, node.params);
        });
      case "wildcard":
        return this.#flat(input, membersOf);
      case "recursive":
        return this.#descend(input);
      case "union":
        this.#visit(node.lists.length);
        return node.lists.flatMap((list) => this.node(input, list));
      case "filter":
        return this.#filter(input, node);
      default:
        // Compat: `range` and `end` are only allowed between actions.
        throw new PathError("unrecognized identifier");
    }
  }

  #flat(input: readonly Json[], next: (value: Json) => readonly Json[]): Json[] {
    const found: Json[] = [];
    this.#visit(input.length);
    for (const value of input) {
      const values = next(value);
      this.#visit(values.length);
      for (const one of values) found.push(one);
    }
    return found;
  }

  #visit(values: number): void {
    if (!visit(this.#work, values)) throw new PathError("too many values");
  }

  /** All values below and including `input` that have members, each before its members. */
  #descend(input: readonly Json[], found: Json[] = []): Json[] {
    for (const value of input) {
      const members = membersOf(value);
      this.#visit(1);
      if (members.length === 0) continue;
      found.push(value);
      this.#descend(members, found);
    }
    return found;
  }

  #filter(input: readonly Json[], { left, right, operator }: Extract<Node, { type: "filter" }>): Json[] {
    return this.#flat(input, (value) => {
      if (!Array.isArray(value)) throw new PathError("is not array or slice and cannot be filtered");
      this.#visit(value.length);
      return value.filter((item) => {
        // `exists` catches the error, but the next item must not go on.
        this.#visit(0);
        if (operator === "exists") return this.#isThere(item, left);
        const one = this.#single(item, left);
        const other = one === undefined ? undefined : this.#single(item, right);
        if (one === undefined || other === undefined) return false;
        const passes = compareValues(one, other, operator);
        if (passes === undefined) throw new PathError("incompatible types for comparison");
        return passes;
      });
    });
  }

  /** Compat: on an error, `exists` uses the values found so far. */
  #isThere(item: Json, node: Node): boolean {
    try {
      return this.node([item], node).length > 0;
    } catch (error) {
      if (error instanceof PathError) return true;
      throw error;
    }
  }

  #single(item: Json, node: Node): Json | undefined {
    const found = this.node([item], node);
    if (found.length > 1) throw new PathError("can only compare one element at a time");
    return found[0];
  }
}

function membersOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value).filter((member) => member !== undefined) : [];
}

function slice(value: Json, { start, end, step }: Params): readonly Json[] {
  if (!Array.isArray(value)) throw new PathError("is not array or slice");
  const { length } = value;
  let first = start ?? 0;
  if (first < 0) first += length;
  // An index without a colon selects one item: the end is the start plus one, where 0 means after the last item.
  let last = end === undefined ? length : end.value;
  if (last < 0 || (last === 0 && end?.isDerived)) last += length;
  if (first === last) return [];
  if (first >= length || first < 0 || last > length || last < 0 || first > last) throw new PathError("out of bounds");
  if (step !== undefined && step <= 0) throw new PathError("step must be > 0");
  return value.slice(first, last).filter((_, index) => index % (step ?? 1) === 0);
}
