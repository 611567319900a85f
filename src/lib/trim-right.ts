/** The text without the ASCII characters of `set` at its end, as Go's `strings.TrimRight` cuts it. */
export function trimRight(text: string, set: string): string {
  let end = text.length;
  while (end > 0 && set.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
