const PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

/**
 * Why `spec.timeZone` is not an IANA time zone, with the message of Go's `time.LoadLocation`; undefined if it is one.
 */
export function timeZoneProblem(name: string): string | undefined {
  if (name.includes("..")) return "time: invalid location name";
  return name === "Local" || isKnown(name) ? undefined : `unknown time zone ${name}`;
}

/** Whether every part of a name has the syntax of an IANA time zone. */
export function looksLikeTimeZone(name: string): boolean {
  return name.split("/").every((part) => part !== "." && part !== ".." && !part.startsWith("-") && PART.test(part));
}

function isKnown(name: string): boolean {
  // Unlike Intl, Go is case-sensitive and does not accept offsets.
  if (!/^[A-Z]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
