import { badRequest } from "../../../base/api/api-error.ts";
import type { Column, RowWork } from "../../../base/api/columns.ts";
import type { Json, JsonObject, KubeObject, ListMeta } from "../../../base/api/object.ts";
import type { TableShape } from "../../../base/api/reply.ts";
import { quote } from "../../../base/go/quote.ts";

/** The content of a row besides its cells. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Options of a Table. */
export interface TableOptions {
  /** The requested version of meta.k8s.io. */
  readonly version: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** The time in milliseconds that ages are relative to. */
  readonly now: number;
  /** Whether columns are omitted: tables of a watch contain them in the first event only. */
  readonly omitsColumns?: boolean;
  /** Counts what all rows have visited, so that their writer can give way. */
  readonly work?: RowWork;
}

/** Parses the query parameter `includeObject`. Default: Metadata. Throws ApiError 400. */
export function parseIncludeObject(value: string | null): IncludeObject {
  if (value === null || value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/**
 * Converts a list to a Table. The rows are in the order of the kind, if it has one, otherwise in the order of the list.
 */
export function tableOfList(
  shape: TableShape,
  objects: readonly KubeObject[],
  metadata: ListMeta,
  options: TableOptions,
): JsonObject {
  const ordered = shape.compare === undefined ? objects : objects.toSorted(shape.compare);
  const rows = ordered.map((object) => tableRow(shape, object, options));
  return table(shape, metadata, rows, options);
}

/** Converts one object to a Table with one row. */
export function tableOfObject(shape: TableShape, object: KubeObject, options: TableOptions): JsonObject {
  const { resourceVersion } = object.metadata;
  const metadata = resourceVersion === undefined ? {} : { resourceVersion };
  return table(shape, metadata, [tableRow(shape, object, options)], options);
}

/** The PartialObjectMetadata of an object in the requested version of meta.k8s.io. */
function partialMetadata(object: KubeObject, version: TableOptions["version"]): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

function table(shape: TableShape, metadata: ListMeta, rows: Json[], options: TableOptions): JsonObject {
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.omitsColumns ? null : shape.columns.map(columnDefinition),
    rows,
  };
}

function columnDefinition(column: Column): JsonObject {
  const { name, type, format = "", description = "", priority = 0 } = column;
  return { name, type, format, description, priority };
}

function tableRow(shape: TableShape, object: KubeObject, options: TableOptions): JsonObject {
  const work: RowWork = { visits: 0 };
  const row: JsonObject = { cells: shape.columns.map((column) => column.cell(object, options.now, work)) };
  if (options.work) options.work.visits += work.visits;
  const conditions = shape.rowConditions?.(object) ?? [];
  if (conditions.length > 0) row.conditions = conditions;
  // Compat: `object` of a TableRow is null with includeObject=None.
  row.object = null;
  if (options.includeObject === "Metadata") row.object = partialMetadata(object, options.version);
  else if (options.includeObject === "Object") row.object = object;
  return row;
}
