import { isObject, type Json } from "../api/object.ts";
import { getMember } from "../lib/members.ts";
import { compareValues } from "./json-path-compare.ts";
import { type Node, type Params, parseJsonPath } from "./json-path-parse.ts";

/** Finds what a path leads to in a value: what the first of its actions gives. Undefined: there is nothing, or an error. */
export type JsonPath = (value: Json) => readonly Json[] | undefined;

/** At most so many values are looked at for one cell. */
const MAX_VISITS = 10_000;

/** Why a path leads nowhere. */
class PathError extends Error {}

/**
 * A path in Kubernetes' JSONPath, without the braces around it; missing members are no error. Undefined when it cannot be
 * parsed. Upstream: `jsonpath.Parse`, `FindResults`.
 */
export function jsonPath(text: string): JsonPath | undefined {
  const root = parseJsonPath(`{${text}}`);
  const [first] = root ?? [];
  if (root === undefined) return undefined;
  return (value) => {
    const walk = new Walk();
    try {
      return first === undefined ? undefined : walk.node([value], first);
    } catch (error) {
      if (error instanceof PathError) return undefined;
      throw error;
    }
  };
}

class Walk {
  #visits = 0;

  node(input: readonly Json[], node: Node): readonly Json[] {
    switch (node.type) {
      case "list":
        return node.nodes.reduce<readonly Json[]>((values, one) => this.node(values, one), input);
      case "text":
        return [node.text];
      case "literal":
        return input.map(() => node.value);
      case "field":
        return this.#flat(input, (value) => {
          const member = isObject(value) ? getMember(value, node.name) : undefined;
          return member === undefined ? [] : [member];
        });
      case "array":
        return this.#flat(input, (value) => (value === null ? [] : slice(value, node.params)));
      case "wildcard":
        return this.#flat(input, membersOf);
      case "recursive":
        return this.#descend(input);
      case "union":
        return node.lists.flatMap((list) => this.node(input, list));
      case "filter":
        return this.#filter(input, node);
      default:
        // Compat: `range` and `end` make sense between actions only.
        throw new PathError("unrecognized identifier");
    }
  }

  #flat(input: readonly Json[], next: (value: Json) => readonly Json[]): Json[] {
    const found: Json[] = [];
    for (const value of input) {
      for (const one of next(value)) {
        this.#visits += 1;
        if (this.#visits > MAX_VISITS) throw new PathError("too much to look at");
        found.push(one);
      }
    }
    return found;
  }

  #descend(input: readonly Json[]): Json[] {
    return this.#flat(input, (value) => {
      const members = membersOf(value);
      return members.length === 0 ? [] : [value, ...this.#descend(members)];
    });
  }

  #filter(input: readonly Json[], { left, right, operator }: Extract<Node, { type: "filter" }>): Json[] {
    return this.#flat(input, (value) => {
      if (!Array.isArray(value)) throw new PathError("is not array or slice and cannot be filtered");
      return value.filter((item) => {
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

  /** Compat: for `exists` an error leaves what was found so far. */
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
  // Without a colon one item is meant: the end is the number after the start, of which 0 stands behind the last item.
  let last = end === undefined ? length : end.value;
  if (last < 0 || (last === 0 && end?.isDerived)) last += length;
  if (first === last) return [];
  if (first >= length || first < 0 || last > length || last < 0 || first > last) throw new PathError("out of bounds");
  if (step !== undefined && step <= 0) throw new PathError("step must be > 0");
  return value.slice(first, last).filter((_, index) => index % (step ?? 1) === 0);
}
