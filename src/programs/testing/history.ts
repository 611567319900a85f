import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type KubeObject } from "../../base/api/object.ts";
import type { Resources } from "../../resources/resources.ts";
import { type ObjectName, resourceOf } from "../library/apply.ts";
import type { JournalEntry } from "./journal.ts";

/** A field that a write changed. */
export interface FieldChange {
  /** Such as `spec.containers[0].image`. */
  readonly path: string;
  /** Undefined if the field was added. */
  readonly before: Json | undefined;
  /** Undefined if the field was removed. */
  readonly after: Json | undefined;
}

/** One version of an object, and the request that wrote it. */
export interface ObjectVersion {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The resourceVersion of the write. */
  readonly resourceVersion: string;
  readonly time: Date;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly subresource: string;
  /** The object after the write; for a deletion, its last state. */
  readonly object: KubeObject;
  /** Changed fields, without managedFields and resourceVersion. */
  readonly changes: readonly FieldChange[];
}

/** All kept versions of an object, oldest first. */
export function historyOf(
  resources: Resources,
  object: ObjectName,
  journal: (key: string) => readonly JournalEntry[],
): ObjectVersion[] {
  const resource = resourceOf(resources.catalog, object);
  const { metadata = {} } = object;
  const namespace = resource.definition.scope === "Namespaced" ? (metadata.namespace ?? "default") : "";
  const key = resources.keys.key(resource.definition, { namespace, name: metadata.name ?? "" });
  const show = (entry: JournalEntry["entry"]) => entry && resources.views.view(resource, entry).object;
  return journal(key).flatMap((entry) => {
    const [before, after] = [show(entry.previous), show(entry.entry)];
    const object = after ?? before;
    if (object === undefined) return [];
    const { user, userAgent, verb, subresource, revision, timeMs } = entry;
    const type = after === undefined ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    const changes = type === "MODIFIED" ? changesBetween(before, after, "") : [];
    return [
      {
        type,
        resourceVersion: String(revision),
        time: new Date(timeMs),
        ...{ user, userAgent, verb, subresource, object, changes },
      },
    ];
  });
}

const LEFT_OUT: ReadonlySet<string> = new Set(["metadata.managedFields", "metadata.resourceVersion"]);

function changesBetween(before: Json | undefined, after: Json | undefined, path: string): FieldChange[] {
  if (LEFT_OUT.has(path) || isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      changesBetween(before[name], after[name], path === "" ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((one, index) => changesBetween(one, after[index], `${path}[${index}]`));
  }
  return [{ path, before, after }];
}
