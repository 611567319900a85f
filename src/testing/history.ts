import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type KubeObject } from "../api/object.ts";
import type { Resources } from "../resources/resources.ts";
import { resourceOf } from "./apply.ts";
import type { JournalEntry } from "./journal.ts";

/** An object that is there, or was. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

/** A field that a write changed. */
export interface FieldChange {
  /** Such as `spec.containers[0].image`. */
  readonly path: string;
  /** Undefined: it was not there. */
  readonly before: Json | undefined;
  /** Undefined: it is not there any more. */
  readonly after: Json | undefined;
}

/** One version of an object, and who made it. */
export interface ObjectVersion {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Of the write. */
  readonly resourceVersion: string;
  readonly time: Date;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly subresource: string;
  /** As it was then; of a deletion, as it was last. */
  readonly object: KubeObject;
  /** What was changed, besides managedFields and resourceVersion. */
  readonly changes: readonly FieldChange[];
}

/** Every version of an object that is kept, the oldest first. */
export function historyOf(
  resources: Resources,
  { apiVersion, kind, metadata }: ObjectName,
  journal: (key: string) => readonly JournalEntry[],
): ObjectVersion[] {
  const resource = resourceOf(resources.catalog, { apiVersion, kind });
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
