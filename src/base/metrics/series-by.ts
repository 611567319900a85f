import type { Family, Labels } from "./metrics.ts";

/** Finds the series of a kind without printing its labels. Kinds are identified by object. */
export class SeriesBy<Kind extends object, Name extends string, One> {
  readonly #family: Family<Name, One>;
  readonly #labelsOf: (kind: Kind) => Labels<Name>;
  readonly #series = new WeakMap<Kind, One>();

  constructor(family: Family<Name, One>, labelsOf: (kind: Kind) => Labels<Name>) {
    this.#family = family;
    this.#labelsOf = labelsOf;
  }

  of(kind: Kind): One {
    let series = this.#series.get(kind);
    if (series === undefined) {
      series = this.#family.of(this.#labelsOf(kind));
      this.#series.set(kind, series);
    }
    return series;
  }
}
