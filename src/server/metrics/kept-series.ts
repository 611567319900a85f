/** Keeps what was made for each of a few words, none of which is a client's: a series is looked up without its labels. */
export function keptPer<T>(make: (word: string) => T): (word: string) => T {
  const made = new Map<string, T>();
  return (word) => {
    let one = made.get(word);
    if (one === undefined) {
      one = make(word);
      made.set(word, one);
    }
    return one;
  };
}
