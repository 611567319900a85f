import { writeFileSync } from "node:fs";
import path from "node:path";
import { commandsPage, flagsPage } from "./reference/commands.ts";
import { configurationPage } from "./reference/configuration.ts";
import { libraryPage } from "./reference/library.ts";
import { controllersPage, pluginsPage } from "./reference/loops-and-plugins.ts";
import { metricsPage } from "./reference/metrics.ts";
import { schedulerPage } from "./reference/scheduler.ts";

/** The pages of docs/reference/ that are made from the code, by name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["admission-plugins.md", pluginsPage()],
    ["commands.md", await commandsPage()],
    ["configuration.md", configurationPage()],
    ["controllers.md", controllersPage()],
    ["flags.md", flagsPage()],
    ["library.md", libraryPage()],
    ["metrics.md", await metricsPage()],
    ["scheduler.md", schedulerPage()],
  ]);
}

if (import.meta.main) {
  const folder = path.join(import.meta.dirname, "..", "docs", "reference");
  for (const [name, text] of await referencePages()) writeFileSync(path.join(folder, name), text);
}
