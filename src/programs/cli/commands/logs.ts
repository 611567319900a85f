import { type FileHandle, open } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { readDuration } from "../../../base/go/duration.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { type ColourChoice, colourFlag, hasColour } from "../colour.ts";
import { type Example, Failure, type Io } from "../command.ts";
import { addDataFlag, dataFolder } from "../local/data-folder.ts";
import { findRunning } from "../local/running.ts";
import { type LogForm, type LogLine, logLine, logPrinter, selectLines } from "../log-view.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["Print the log so far", "binnacle logs"],
  ["Also print new lines until the server stops", "binnacle logs --follow"],
  ["Print the last 20 lines of the last 10 minutes", "binnacle logs --since 10m --tail 20"],
  ["Print errors as JSON", "binnacle logs -o json | jq 'select(.level >= 50)'"],
];

interface LogsFlags {
  readonly dataDir?: string;
  readonly follow?: true;
  readonly tail?: number;
  /** In milliseconds. */
  readonly since?: number;
  readonly output?: "text" | "json";
  readonly color: ColourChoice;
}

const CHUNK_BYTES = 256 * 1024;
const LOOK_EVERY_MS = 200;

/** Prints the log of `up --detach`. */
export function configure(command: Command, io: Io): void {
  addDataFlag(command)
    .option("-f, --follow", "print new lines until the server stops")
    .option("--tail <lines>", "number of lines to print from the end (default: all)", readCount)
    .option("--since <duration>", "only lines newer than this, such as 30s, 10m or 1h30m", readSpan)
    .addOption(
      new Option(
        "-o, --output <format>",
        "output format (default: text on a terminal, else the lines as they are)",
      ).choices(["text", "json"]),
    )
    .addOption(colourFlag())
    .action((flags: LogsFlags) => run(flags, io));
}

async function run({ dataDir, follow, tail, since, output, color }: LogsFlags, io: Io): Promise<void> {
  const folder = dataFolder(dataDir, io);
  const file = await open(folder.log).catch(() => {
    throw new Failure(
      `no log found in ${folder.path}`,
      "Only a server in the background writes one: binnacle up --detach",
    );
  });
  const form: LogForm = output ?? (io.isTerminal ? "text" : "raw");
  const printed = await logPrinter(form, hasColour(color, io));
  const print = (lines: readonly LogLine[]) => {
    for (const line of lines) io.print(printed(line));
  };
  try {
    const log = new LogReader(file);
    const sinceMs = since === undefined ? undefined : systemClock.now() - since;
    print(selectLines(await log.read(), { tail, sinceMs }));
    while (follow && (await findRunning(folder))) {
      await systemClock.sleep(LOOK_EVERY_MS);
      print(await log.read());
    }
    print([...(await log.read()), ...log.rest()]);
  } finally {
    await file.close();
  }
}

/** Reads the lines of a file that grows. */
class LogReader {
  readonly #file: FileHandle;
  readonly #decoder = new TextDecoder();
  #position = 0;
  #unfinished = "";

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The complete lines since the last call. */
  async read(): Promise<LogLine[]> {
    const lines: string[][] = [];
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, this.#position);
      if (bytesRead === 0) return lines.flat().map(logLine);
      this.#position += bytesRead;
      const text = this.#unfinished + this.#decoder.decode(chunk.subarray(0, bytesRead), { stream: true });
      const parts = text.split("\n");
      this.#unfinished = parts.pop() ?? "";
      lines.push(parts);
    }
  }

  /** The last line, if it has no line break. */
  rest(): LogLine[] {
    return this.#unfinished === "" ? [] : [logLine(this.#unfinished)];
  }
}

function readCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a number of lines");
  return Number(text);
}

function readSpan(text: string): number {
  const nanoseconds = readDuration(text);
  if (typeof nanoseconds === "string" || nanoseconds < 0n) {
    throw new InvalidArgumentError("expected a duration such as 30s, 10m or 1h30m");
  }
  return Number(nanoseconds / 1_000_000n);
}
