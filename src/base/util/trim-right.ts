/** Removes the ASCII characters of `set` from the end of a text, like Go's `strings.TrimRight`. */
export function trimRight(text: string, set: string): string {
  let end = text.length;
  while (end > 0 && set.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
