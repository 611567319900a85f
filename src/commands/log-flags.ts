import { type Command, Option } from "commander";
import type { LogOptions } from "../server/system-environment.ts";

/** What the flags of the log were set to. */
export interface LogFlags {
  logLevel: (typeof LEVELS)[number];
  logFormat: (typeof FORMATS)[number];
}

const LEVELS = ["error", "warn", "info", "debug"] as const;
const FORMATS = ["auto", "text", "json"] as const;

/** Adds the flags that say how much the server says, and in which form. */
export function addLogFlags(command: Command, level: LogFlags["logLevel"] = "info"): void {
  command
    .addOption(
      new Option("--log-level <level>", "what is worth a line of the log; debug: also every request")
        .choices(LEVELS)
        .default(level),
    )
    .addOption(
      new Option("--log-format <form>", "lines for people or for programs; auto: text on a terminal")
        .choices(FORMATS)
        .default("auto"),
    );
}

/** The log that the flags describe, and whether requests are in it. */
export function logOf({ logLevel, logFormat }: LogFlags): { log: LogOptions; logRequests: boolean } {
  const isReadable = logFormat === "text" || (logFormat === "auto" && process.stderr.isTTY === true);
  const logRequests = logLevel === "debug";
  return { log: { level: logLevel === "debug" ? "info" : logLevel, isReadable }, logRequests };
}
