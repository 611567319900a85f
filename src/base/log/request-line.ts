/** Message of the log line that each request gets with `--log-level debug`. */
export const REQUEST_LINE = "request";
