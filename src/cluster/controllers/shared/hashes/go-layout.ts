import { readFileSync } from "node:fs";
import { parseJsonText } from "../../../../base/util/parse-json.ts";

/**
 * The layout of Go structs, from a file in schemas/go-layouts, which `tools/kubernetes/go-layouts` writes. Examples of rows:
 *   "Volumes volumes []v1.Volume"          the name of a field, its JSON name, and its type
 *   "VolumeSource @ v1.VolumeSource"       an embedded struct whose members are those of the same JSON object
 *   "Format Format resource.Format"        a field that JSON does not have, under its Go name: see go-values.ts
 */
export interface GoLayout {
  readonly structs: Readonly<Record<string, readonly string[]>>;
  /** What other named types consist of: `"v1.PullPolicy": "string"`. */
  readonly types: Readonly<Record<string, string>>;
}

/** Reads the layout of v1.PodTemplateSpec and of all structs inside it. */
export function readPodTemplateLayout(): GoLayout {
  // Sources and the bundled file are at different depths.
  const file = new URL("schemas/go-layouts/pod-template.json", import.meta.resolve("#package.json"));
  return parseJsonText(readFileSync(file, "utf8")) as GoLayout;
}
