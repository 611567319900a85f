import { readFileSync } from "node:fs";
import { schemaLibrary } from "../schema/built-in.ts";
import type { Schema } from "../schema/schema.ts";

// Sources and the bundled file that they become lie at different depths.
const folder = new URL("schemas/", import.meta.resolve("#package.json"));

/** The named built-in shape, or undefined. Reads the file that holds it at first need. */
export const findBuiltInSchema: (component: string) => Schema | undefined = schemaLibrary((fileName) => {
  try {
    return readFileSync(new URL(fileName, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
});

/** The named built-in shape, e.g. `io.k8s.api.core.v1.Pod`. Throws when there is none: a row names it wrongly. */
export function builtInSchema(component: string): Schema {
  const schema = findBuiltInSchema(component);
  if (schema === undefined) throw new Error(`no built-in schema named ${component}`);
  return schema;
}
