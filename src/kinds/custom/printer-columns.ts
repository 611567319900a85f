import type { Column, RowWork } from "../../base/api/columns.ts";
import { ageOf } from "../../base/api/human-duration.ts";
import type { Json, KubeObject } from "../../base/api/object.ts";
import { printGoFloat } from "../../base/go/float.ts";
import { printGoJson } from "../../base/go/go-json.ts";
import { isNumber } from "../../base/util/exact-integer.ts";
import { type JsonPath, jsonPath, visit } from "../../data/json-path/json-path.ts";
import { countValues } from "../../data/patch/json-values.ts";
import { sorted } from "../../data/schema/structural/kinds-of-values.ts";
import { NAME } from "../built-in/cells.ts";
import type { PrinterColumn } from "../types/custom-resource-definition.ts";

const NAME_DESCRIPTION =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

const AGE: PrinterColumn = {
  name: "Age",
  type: "date",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  jsonPath: ".metadata.creationTimestamp",
};

/**
 * The columns of a version: Name, then `additionalPrinterColumns`, or Age if there are none. Compat: the first column
 * whose path cannot be parsed and all later ones are omitted (`tableconvertor.New`).
 */
export function printerColumns(columns: readonly PrinterColumn[]): Column[] {
  const shown: Column[] = [{ ...NAME, description: NAME_DESCRIPTION }];
  for (const { name = "", type = "", format = "", description, priority = 0, jsonPath: text = "" } of columns.length ===
  0
    ? [AGE]
    : columns) {
    const find = jsonPath(text);
    if (find === undefined) return shown;
    shown.push({
      name,
      type: type as Column["type"],
      format,
      description: description || `Custom resource definition column (in JSONPath format): ${text}`,
      priority,
      cell: (object, now, row) => cellOf(find, type, object, now, row),
    });
  }
  return shown;
}

/** Sorting and printing a value takes as long as visiting so many. */
const VISITS_PER_PRINTED_VALUE = 3;
/** Printing so many characters takes as long as visiting a value. */
const CHARACTERS_PER_VISIT = 100;

function cellOf(find: JsonPath, type: string, object: KubeObject, now: number, row: RowWork = { visits: 0 }): Json {
  const value = find(object, row)?.[0];
  if (value === undefined) return null;
  if (type === "string") return visit(row, printedVisits(value)) ? printValue(value) : null;
  if (value === null) return null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? int64(value) : isNumber(value) ? value : null;
    case "number":
      return isNumber(value) ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? printAge(value, now) : null;
    default:
      return null;
  }
}

function printedVisits(value: Json): number {
  if (typeof value === "string") return value.length / CHARACTERS_PER_VISIT;
  return typeof value === "object" ? countValues(value) * VISITS_PER_PRINTED_VALUE : 1;
}

const MIN_INT64 = -(2 ** 63);

/** Compat: Go's `int64(value)` of a float64 out of range is the smallest int64, on amd64. */
function int64(value: number): number {
  const whole = Math.trunc(value);
  return whole >= MIN_INT64 && whole < -MIN_INT64 ? whole : MIN_INT64;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Upstream: `UnmarshalQueryParameter` of metav1.Time, then `ConvertToHumanReadableDateType`. */
function printAge(time: string, now: number): string {
  if (time === "" || time === "null") return "<unknown>";
  return RFC3339.test(time) && !Number.isNaN(Date.parse(time)) ? ageOf(time, now) : "<invalid>";
}

/** Upstream: `PrintResults`. */
function printValue(value: Json): string {
  if (typeof value === "string") return value;
  if (value === null) return "<no value>";
  if (typeof value === "number" && (!Number.isInteger(value) || value !== int64(value))) return printGoFloat(value);
  return typeof value === "object" && !isNumber(value) ? printGoJson(sorted(value)) : String(value);
}
