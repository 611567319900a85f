import type { Column } from "../../base/api/columns.ts";
import { ageOf } from "../../base/api/human-duration.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { TableShape } from "../../base/api/reply.ts";
import { printLabelSelector, readSelectorObject } from "../../base/api/selector-object.ts";
import { isNumber } from "../../base/util/exact-integer.ts";

/** Computes one cell of a Table row. */
export type Cell = Column["cell"];

/** The value at a path such as ".spec.nodeName"; undefined if a part of the path is missing. */
export function read(value: Json | undefined, path: string): Json | undefined {
  let current: Json | undefined = value;
  for (const member of path.split(".")) {
    if (member === "") continue;
    if (!isObject(current)) return undefined;
    current = current[member];
  }
  return current ?? undefined;
}

/** The string at a path, or the fallback if it is missing or empty. */
export function readText(value: Json | undefined, path: string, fallback = ""): string {
  const found = read(value, path);
  if (typeof found === "string") return found === "" ? fallback : found;
  return isNumber(found) || typeof found === "boolean" ? String(found) : fallback;
}

/** The number at a path; 0 if there is none. */
export function readNumber(value: Json | undefined, path: string): number {
  const found = read(value, path);
  return typeof found === "number" ? found : 0;
}

/** The objects of the list at a path. */
export function readObjects(value: Json | undefined, path: string): JsonObject[] {
  const found = read(value, path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The strings of the list at a path. */
export function readTexts(value: Json | undefined, path: string): string[] {
  const found = read(value, path);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
}

/** The condition of a type in `.status.conditions`, or undefined. */
export function findCondition(object: KubeObject, type: string): JsonObject | undefined {
  return readObjects(object, ".status.conditions").find((condition) => condition.type === type);
}

/** Whether the condition of a type exists and is "True". */
export function isConditionTrue(object: KubeObject, type: string): boolean {
  return findCondition(object, type)?.status === "True";
}

/** A Table column with priority 0, which is always shown. */
export function column(name: string, type: Column["type"], cell: Cell): Column {
  return { name, type, cell };
}

/** A Table column with priority 1, which is only shown with `-o wide`. */
export function wide(name: string, type: Column["type"], cell: Cell): Column {
  return { name, type, priority: 1, cell };
}

/** A cell with the string at a path. */
export function text(path: string, fallback = ""): Cell {
  return (object) => readText(object, path, fallback);
}

/** A cell with the string at a path; only a missing one gets the fallback, an empty one does not. */
export function optionalText(path: string, fallback: string): Cell {
  return (object) => {
    const found = read(object, path);
    return found === undefined ? fallback : String(found);
  };
}

/** A cell with the number at a path. */
export function integer(path: string): Cell {
  return (object) => readNumber(object, path);
}

/** A cell with the number at a path, or the fallback if there is none. */
export function optionalInteger(path: string, fallback: string): Cell {
  return (object) => {
    const found = read(object, path);
    return typeof found === "number" ? found : fallback;
  };
}

/** A cell that is true or false. */
export function boolean(path: string, fallback = false): Cell {
  return (object) => {
    const found = read(object, path);
    return typeof found === "boolean" ? found : fallback;
  };
}

/** A cell with the number of entries of the lists and maps at some paths. */
export function count(...paths: readonly string[]): Cell {
  return (object) => {
    let total = 0;
    for (const path of paths) {
      const found = read(object, path);
      if (Array.isArray(found)) total += found.length;
      else if (isObject(found)) total += Object.keys(found).length;
    }
    return total;
  };
}

/** A cell with the time that has passed since the timestamp at a path. */
export function age(path: string, fallback = "<unknown>"): Cell {
  return (object, now) => {
    const found = read(object, path);
    return found === undefined ? fallback : ageOf(found, now);
  };
}

/** The column Name, with the format "name". */
export const NAME: Column = { name: "Name", type: "string", format: "name", cell: text(".metadata.name") };
/** The column Age, by creationTimestamp. */
export const AGE: Column = column("Age", "string", age(".metadata.creationTimestamp"));
/** The column Created At, by creationTimestamp. */
export const CREATED_AT: Column = column("Created At", "date", text(".metadata.creationTimestamp"));

/** The Table of kinds without columns of their own, like upstream's `defaultTableConvertor`. */
export const DEFAULT_TABLE: TableShape = { columns: [NAME, CREATED_AT] };

/** A map as sorted `key=value` pairs; "<none>" if it is empty. */
export function printLabels(labels: Json | undefined): string {
  if (!isObject(labels)) return "<none>";
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key] ?? ""}`);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

/** A cell with the labels at a path. */
export function labels(path: string): Cell {
  return (object) => printLabels(read(object, path));
}

/** A label selector in the syntax of `labelSelector`, sorted by key; undefined if it is malformed. */
export function printSelector(selector: Json | undefined): string | undefined {
  const read = readSelectorObject(selector);
  return read && printLabelSelector(read);
}

/** A cell with the label selector at a path. */
export function selector(path: string): Cell {
  return (object) => {
    const printed = printSelector(read(object, path));
    return printed === undefined ? "<error>" : printed || "<none>";
  };
}

/** The first strings of a list, and how many more there are; "<unset>" if it is empty. */
export function printFirst(items: readonly string[], max: number, separator = ","): string {
  if (items.length === 0) return "<unset>";
  const shown = items.slice(0, max).join(separator);
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}

/** Unique strings, sorted. */
export function sortedSet(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

/** The columns Containers and Images of the pod spec at a path. */
export function containerColumns(path: string, make = wide): Column[] {
  const names = (member: string): Cell => {
    return (object) =>
      readObjects(object, `${path}.containers`)
        .map((container) => readText(container, member))
        .join(",");
  };
  return [make("Containers", "string", names(".name")), make("Images", "string", names(".image"))];
}
