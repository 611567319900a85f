import type { Readable } from "node:stream";

/** The complete lines of a text stream. Text after the last line feed is dropped. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let held = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = `${held}${chunk}`.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
}
