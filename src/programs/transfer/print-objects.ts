import type { KubeObject } from "../../base/api/object.ts";
import { printYaml } from "../../data/encoding/yaml/yaml-print.ts";

/** Output formats of objects. */
export const DUMP_FORMS = ["yaml", "json"] as const;

/** Output format: YAML documents, or one line of JSON per object. */
export type DumpForm = (typeof DUMP_FORMS)[number];

/** Formats an object as part of a dump. */
export function printObject(object: KubeObject, form: DumpForm): string {
  return form === "json" ? `${JSON.stringify(object)}\n` : `---\n${printYaml(object)}`;
}
