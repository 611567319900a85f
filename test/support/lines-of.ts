import type { Readable } from "node:stream";

/** The whole lines of a stream of text. What stands behind the last line feed when it ends is left out. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let held = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const lines = `${held}${chunk}`.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
}
