import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Handlers } from "../handlers/handlers.ts";
import type { ConnectConfig } from "./options.ts";

/**
 * Returns the configured handlers, or those that the `--handlers` module exports. Rejects if it exports no `handlers`.
 */
export async function loadHandlers({
  handlers: given,
  handlersFile: file,
}: Pick<ConnectConfig, "handlers" | "handlersFile">): Promise<Handlers> {
  if (given) return given;
  if (file === undefined) return {};
  const { handlers } = await import(pathToFileURL(path.resolve(file)).href);
  if (typeof handlers !== "object" || handlers === null) throw new Error(`${file} exports no "handlers"`);
  return handlers;
}
