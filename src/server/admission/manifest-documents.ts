/** The documents of a text in YAML, without empty ones. */
export function splitDocuments(text: string): string[] {
  return text.split(/^---.*$/m).filter((one) => one.trim() !== "");
}
