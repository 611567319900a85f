import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/**
 * An additional reporter: prints each failure when it happens, with its place and error. Node's own report prints errors at the end,
 * which a run that exceeds its time limit does not reach.
 */
// biome-ignore lint/style/noDefaultExport: Node uses the default export of a module as reporter.
export default async function* reportFailures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== "test:fail") continue;
    const { name, file, line, details } = event.data;
    const { cause, failureType } = details.error as Error & { readonly failureType?: string };
    if (failureType !== "subtestsFailed") yield `\nFAILED: ${name}, ${file}:${line}\n${inspect(cause)}\n`;
  }
}
