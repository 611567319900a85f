import { badRequest } from "../../api/api-error.ts";
import type { Column } from "../../api/columns.ts";
import type { Json, JsonObject, KubeObject, ListMeta } from "../../api/object.ts";
import type { TableShape } from "../../api/reply.ts";
import { quote } from "../../lib/go/quote.ts";

/** What a row carries besides its cells. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** How a Table is to be made. */
export interface TableOptions {
  /** Version of meta.k8s.io that the client asked for. */
  readonly version: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  /** The time in milliseconds that ages are counted to. */
  readonly now: number;
  /** Tables of a watch name their columns in the first event only. */
  readonly omitsColumns?: boolean;
}

/** The query parameter `includeObject`; Metadata when it is missing or empty. Throws ApiError 400 for anything else. */
export function parseIncludeObject(value: string | null): IncludeObject {
  if (value === null || value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** A list as a Table. The rows are in the order of the list, or in the order of the kind where it has one. */
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

/** One object as a Table with one row. */
export function tableOfObject(shape: TableShape, object: KubeObject, options: TableOptions): JsonObject {
  const { resourceVersion } = object.metadata;
  const metadata = resourceVersion === undefined ? {} : { resourceVersion };
  return table(shape, metadata, [tableRow(shape, object, options)], options);
}

/** Only the metadata of an object, as the version of meta.k8s.io that the client asked for shows it. */
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
  const row: JsonObject = { cells: shape.columns.map((column) => column.cell(object, options.now)) };
  const conditions = shape.rowConditions?.(object) ?? [];
  if (conditions.length > 0) row.conditions = conditions;
  // Compat: `object` of a TableRow is null with includeObject=None.
  row.object = null;
  if (options.includeObject === "Metadata") row.object = partialMetadata(object, options.version);
  else if (options.includeObject === "Object") row.object = object;
  return row;
}
