/** Things in order, of which each can be had by its place. An array is one; others make or look up what is asked for. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
}
