import type { TestEvent } from "node:test/reporters";

/** Something that was skipped, and why. */
export interface Skip {
  readonly type: "suite" | "test";
  readonly reason: string;
}

/** What the reason says of a program without which a run is complete, too. */
export const OPTIONAL = "is missing, which CI need not have";

/** A line about all that was skipped; undefined if nothing was. */
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

/** Tells whether something was skipped that a complete run has. */
export function isRequired({ reason }: Skip): boolean {
  return reason.split("; ").some((part) => !part.includes(OPTIONAL));
}

/**
 * A reporter beside the usual one: says at the end how much was skipped and why, and with BINNACLE_REQUIRE_TOOLS set
 * fails the run for it, unless only programs are missing that CI need not have. Node's own count leaves out suites that were skipped as a whole.
 */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from the default export of its module.
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
