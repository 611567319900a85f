/** The words of a command line as a shell would give them: blanks separate, quotes of either kind keep together. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const char of line) {
    if (quote !== "") {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (quote !== "") throw new Error(`no closing ${quote} in: ${line}`);
  if (word !== undefined) words.push(word);
  return words;
}

/** Text with the values of `%{name}` filled in; throws when there is no such value. */
export function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(/%\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`no %{${name}} is known in: ${text}`);
    return value;
  });
}
