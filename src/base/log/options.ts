import { flagOnly, libraryOption } from "../options/option.ts";
import { boolean, choice } from "../options/value-types.ts";
import type { LogOptions } from "./system-environment.ts";

/** Options about the log. */
export const logOptions = {
  logLevel: flagOnly(
    "log-level",
    choice(["error", "warn", "info", "debug"]),
    "minimum level of log lines; debug also logs every request",
    { flagDefault: "info" },
  ),
  logFormat: flagOnly(
    "log-format",
    choice(["auto", "text", "json"]),
    "format of log lines; auto is text on a terminal and json elsewhere",
    { flagDefault: "auto" },
  ),
  logRequests: libraryOption(boolean, "log every request", { default: false }),
};

/** What the flags of the log are set to. */
export interface LogFlags {
  readonly logLevel?: "error" | "warn" | "info" | "debug";
  readonly logFormat?: "auto" | "text" | "json";
}

/** The log that the flags describe. */
export function logOf({ logLevel = "info", logFormat = "auto" }: LogFlags): LogOptions {
  const isReadable = logFormat === "text" || (logFormat === "auto" && process.stderr.isTTY === true);
  return { level: logLevel === "debug" ? "info" : logLevel, isReadable };
}
