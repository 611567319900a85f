type Step = string | number;

/** A path whose first `length` characters match the current path. */
interface Candidate {
  readonly path: string;
  readonly length: number;
}

/**
 * Finds paths of a walk among given ones, such as `spec.ports[0].name`. Each step is compared once, however many values
 * are below it: a key may have a megabyte, and thousands of members.
 */
export class DuplicatePaths {
  readonly #all: readonly Candidate[];
  /** The last path, and after each of its steps the candidates that begin with it. */
  readonly #steps: Step[] = [];
  readonly #candidates: (readonly Candidate[])[] = [];

  constructor(paths: readonly string[]) {
    this.#all = paths.map((path) => ({ path, length: 0 }));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  has(path: readonly Step[]): boolean {
    let depth = 0;
    while (depth < this.#steps.length && depth < path.length && this.#steps[depth] === path[depth]) depth++;
    this.#steps.length = depth;
    this.#candidates.length = depth;
    for (; depth < path.length; depth++) {
      const step = path[depth] as Step;
      this.#steps.push(step);
      this.#candidates.push(following(this.#candidates[depth - 1] ?? this.#all, step));
    }
    return this.#candidates.at(-1)?.some((one) => one.length === one.path.length) ?? false;
  }
}

function following(candidates: readonly Candidate[], step: Step): Candidate[] {
  const found: Candidate[] = [];
  for (const { path, length } of candidates) {
    const isIndex = typeof step === "number";
    const text = isIndex ? `[${step}]` : step;
    const hasDot = !isIndex && length > 0;
    const start = hasDot ? length + 1 : length;
    if ((!hasDot || path[length] === ".") && path.startsWith(text, start)) {
      found.push({ path, length: start + text.length });
    }
  }
  return found;
}
