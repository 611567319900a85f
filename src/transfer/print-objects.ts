import type { KubeObject } from "../api/object.ts";
import { printYaml } from "../encoding/yaml/yaml-print.ts";

/** The forms in which objects are written, one after the other. */
export const DUMP_FORMS = ["yaml", "json"] as const;

/** One of them: documents of YAML, or a line of JSON for each object. */
export type DumpForm = (typeof DUMP_FORMS)[number];

/** An object as a part of a dump. */
export function printObject(object: KubeObject, form: DumpForm): string {
  return form === "json" ? `${JSON.stringify(object)}\n` : `---\n${printYaml(object)}`;
}
