import type { TestEvent } from "node:test/reporters";

/** A skipped test or suite, and the reason. */
export interface Skip {
  readonly type: "suite" | "test";
  readonly reason: string;
}

/** Part of the reason if the missing program is optional. */
export const OPTIONAL = "is missing, which CI need not have";

/** One line about all skipped tests; undefined if there are none. */
export function summarize(skips: readonly Skip[]): string | undefined {
  if (skips.length === 0) return undefined;
  const parts = (["test", "suite"] as const).flatMap((type) => {
    const count = skips.filter((skip) => skip.type === type).length;
    return count === 0 ? [] : [`${count} ${type}${count === 1 ? "" : "s"}`];
  });
  const reasons = new Set(skips.flatMap(({ reason }) => reason.split("; ")));
  const missing = Map.groupBy([...reasons].sort(), (reason) => reason.split(" is missing: ")[1]);
  const lines = [...missing].map(([remedy, those]) => {
    if (remedy === undefined) return those.join("; ");
    const names = those.map((reason) => reason.split(" is missing: ")[0]);
    return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing; ${remedy}`;
  });
  return `skipped ${parts.join(" and ")}: ${lines.join("; ")}`;
}

/** Whether a skipped test belongs to a complete run. */
export function isRequired({ reason }: Skip): boolean {
  return reason.split("; ").some((part) => !part.includes(OPTIONAL));
}

/**
 * An additional reporter: at the end it prints how many tests were skipped and why. With BINNACLE_REQUIRE_TOOLS set it
 * fails the run, unless only optional programs are missing. Node's own count omits suites that were skipped as a whole.
 */
// biome-ignore lint/style/noDefaultExport: Node uses the default export of a module as reporter.
export default async function* reportSkips(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skips: Skip[] = [];
  for await (const event of events) {
    if (event.type !== "test:pass" || event.data.skip === undefined) continue;
    const { skip, details } = event.data;
    skips.push({ type: details.type === "suite" ? "suite" : "test", reason: typeof skip === "string" ? skip : "" });
  }
  const line = summarize(skips);
  if (line === undefined) return;
  const isFailure = Boolean(process.env.BINNACLE_REQUIRE_TOOLS) && skips.some(isRequired);
  if (isFailure) process.exitCode = 1;
  yield `\n${isFailure ? "FAILED: " : ""}${line}\n`;
}
