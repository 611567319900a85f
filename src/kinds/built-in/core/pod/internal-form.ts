import { isObject, type Json, type JsonObject } from "../../../../base/api/object.ts";
import { getMember } from "../../../../base/util/members.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import type { Texts } from "../../../types/meta.ts";
import { orderedSelector, orderedTexts } from "../../shared-rules/label-selector.ts";
import forms from "./internal-forms.json" with { type: "json" };

/**
 * internal-forms.json describes how kube-apiserver prints its internal structs in messages. Examples:
 *   "Name name \"\""                       a field, its JSON name, and its value when absent
 *   "Affinity affinity null Affinity"      … and the struct of the field or of its items
 *   "Selector selector null +selector"     … or that it is a label selector, or a map of strings (+map)
 *   "@VolumeSource"                        includes the fields of another struct
 */
interface Member {
  readonly name: string;
  readonly json: string;
  readonly absent: Json;
  readonly form: string;
}

const rows: Readonly<Record<string, readonly string[]>> = forms;
const members = new Map<string, readonly (Member | string)[]>();

function membersOf(structure: string): readonly (Member | string)[] {
  let found = members.get(structure);
  if (found === undefined) {
    found = (getMember(rows, structure) ?? []).map((row) => {
      if (row.startsWith("@")) return row.slice(1);
      const [name = "", json = "", absent = "null", form = ""] = row.split(" ");
      return { name, json, absent: parseJsonText(absent) as Json, form };
    });
    members.set(structure, found);
  }
  return found;
}

const METADATA = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
];

/** A value of a core kind as `field.Error` shows the internal Go type. */
export function internalForm(value: Json | undefined, structure: string): Json {
  if (Array.isArray(value)) return value.map((item) => internalForm(item, structure));
  if (!isObject(value)) return null;
  const out: JsonObject = {};
  for (const member of membersOf(structure)) {
    if (member === "metadata") Object.assign(out, metadataForm(value.metadata));
    else if (typeof member === "string") Object.assign(out, internalForm(value, member));
    else out[member.name] = memberForm(value[member.json] ?? undefined, member);
  }
  return out;
}

function metadataForm(metadata: Json | undefined): JsonObject {
  const out: JsonObject = {};
  if (!isObject(metadata)) return out;
  for (const member of METADATA) {
    const value = metadata[member];
    if (value === undefined) continue;
    out[member] = member === "labels" || member === "annotations" ? orderedTexts(value as Texts) : value;
  }
  return out;
}

function memberForm(value: Json | undefined, { absent, form }: Member): Json {
  if (value === undefined) return isObject(absent) ? internalForm(absent, form) : absent;
  if (form === "") return value;
  if (form === "+selector") return orderedSelector(value) ?? null;
  return form === "+map" ? (orderedTexts(value as Texts) ?? null) : internalForm(value, form);
}
