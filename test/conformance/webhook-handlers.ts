import { existsSync, readFileSync } from "node:fs";
import type { Handlers } from "../../src/index.ts";

/**
 * For `--handlers`: a Service is behind the local port that the file WEBHOOK_PORTS has for its namespace and name.
 */
export const handlers: Handlers = {
  service({ metadata: { namespace, name } }) {
    const file = process.env.WEBHOOK_PORTS ?? "";
    const ports = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, number>) : {};
    const port = ports[`${namespace}/${name}`];
    return port === undefined ? undefined : { port };
  },
};
