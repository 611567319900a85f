import { readFileSync } from "node:fs";
import { schemaLibrary } from "../../data/schema/built-in.ts";
import type { Schema } from "../../data/schema/schema.ts";

// Sources and the bundled file are at different depths.
const folder = new URL("schemas/", import.meta.resolve("#package.json"));

/** The schema of a built-in type; undefined if there is none. Files are read on first use. */
export const findBuiltInSchema: (component: string) => Schema | undefined = schemaLibrary((fileName) => {
  try {
    return readFileSync(new URL(fileName, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
});

/** The schema of a built-in type, e.g. `io.k8s.api.core.v1.Pod`. Throws if there is none: a row has a wrong name. */
export function builtInSchema(component: string): Schema {
  const schema = findBuiltInSchema(component);
  if (schema === undefined) throw new Error(`no built-in schema named ${component}`);
  return schema;
}
