const PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

/** Why `spec.timeZone` is no IANA time zone, in the words of Go's `time.LoadLocation`; undefined when it is one. */
export function timeZoneProblem(name: string): string | undefined {
  if (name.includes("..")) return "time: invalid location name";
  return name === "Local" || isKnown(name) ? undefined : `unknown time zone ${name}`;
}

/** Whether every part of a name could be one of an IANA time zone's. */
export function looksLikeTimeZone(name: string): boolean {
  return name.split("/").every((part) => part !== "." && part !== ".." && !part.startsWith("-") && PART.test(part));
}

function isKnown(name: string): boolean {
  // Unlike here, letters matter to the real server, and offsets are no names.
  if (!/^[A-Z]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
