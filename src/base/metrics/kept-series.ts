/**
 * Caches one value per word, so that a series is found without printing its labels. Words must not come from clients.
 */
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
