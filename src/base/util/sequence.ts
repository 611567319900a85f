/** An indexed sequence, such as an array. Other implementations create or look up items on access. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
}
