/** Splits YAML text into documents, without empty ones. */
export function splitDocuments(text: string): string[] {
  return text.split(/^---.*$/m).filter((one) => one.trim() !== "");
}
