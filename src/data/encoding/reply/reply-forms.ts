import { notAcceptable, plainError } from "../../../base/api/api-error.ts";
import type { ApiRequest } from "../../../base/api/call.ts";
import type { RowWork } from "../../../base/api/columns.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import type { ApiReply, ObjectView, TableShape } from "../../../base/api/reply.ts";
import { parseJson } from "../json/json.ts";
import type { OutputForm, Transform } from "../negotiation/negotiate.ts";
import type { SchemaOf } from "../protobuf/envelope.ts";
import type { ListShape } from "./list-writer.ts";
import { partialJson, partialMetadata } from "./partial-metadata.ts";
import { parseIncludeObject, type TableOptions, tableOfList, tableOfObject } from "./table.ts";

/** Context of a transform besides the response. */
export interface FormContext {
  /** Whether the path belongs to a custom resource, which kube-apiserver serves without go-restful. */
  readonly isCustom?: boolean;
  /** The current time in milliseconds, for ages in tables. */
  readonly now: () => number;
  /** Finds the protobuf schemas of kinds. Optional. If omitted, protobuf is not offered. */
  readonly schemaOf?: SchemaOf;
}

type ObjectReply = Extract<ApiReply, { readonly type: "object" }>;
type ListReply = Extract<ApiReply, { readonly type: "list" }>;

/** Transforms one object. Throws 406 for a transform of lists. */
export function transformObject(
  request: ApiRequest,
  { view, table }: ObjectReply,
  transform: Transform,
  context: FormContext,
): JsonObject {
  if (transform.kind === "PartialObjectMetadata") return partialMetadata(view.object, transform.version);
  if (transform.kind === "Table" && table) {
    return tableOfObject(table, view.object, tableOptions(request, transform, context));
  }
  // Compat: as=PartialObjectMetadataList for one custom resource is a 500 "content is not a list" in
  // apiextensions-apiserver.
  if (context.isCustom) throw plainError(500, "content is not a list");
  const type = goType(view.object.apiVersion, view.object.kind);
  throw notAcceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (*${type})`);
}

/** The Go type in messages of kube-apiserver: the package is the first label of the group. */
function goType(apiVersion: string, kind: string): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "core";
  return `${group.split(".")[0]}.${kind}`;
}

/** The options of a table. Throws 400. */
export function tableOptions(request: ApiRequest, transform: Transform, context: FormContext): TableOptions {
  const includeObject = parseIncludeObject(request.query.get("includeObject"));
  return { version: transform.version, includeObject, now: context.now() };
}

/** Transforms a list. Throws 406 for a transform of single objects. */
export function listShape(request: ApiRequest, reply: ListReply, form: OutputForm, context: FormContext): ListShape {
  const { kind, apiVersion, metadata, items, table } = reply;
  const { transform } = form;
  if (transform === undefined && context.isCustom) return customList(reply);
  if (transform === undefined) {
    return {
      head: { kind, apiVersion, metadata },
      arrayName: "items",
      views: items,
      value: plainValue,
    };
  }
  if (transform.kind === "PartialObjectMetadataList") return partialList(reply, transform);
  if (transform.kind === "Table" && table) {
    return tableShape(table, reply, tableOptions(request, transform, context));
  }
  const type = context.isCustom ? "unstructured.UnstructuredList" : goType(apiVersion, kind);
  throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (*${type})`);
}

/** Compat: an UnstructuredList: its items have kind and apiVersion, and `continue` is included even if it is empty. */
function customList({ kind, apiVersion, metadata, items }: ListReply): ListShape {
  return {
    head: { kind, apiVersion, metadata: { ...metadata, continue: metadata.continue ?? "" } },
    arrayName: "items",
    views: items,
    value: (view) => view.object,
  };
}

// Only the bytes show whether items contain their kind.
function plainValue(view: ObjectView): Json {
  return parseJson(view.itemJson());
}

function partialList({ metadata, items }: ListReply, { version }: Transform): ListShape {
  return {
    head: { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${version}`, metadata },
    arrayName: "items",
    views: items,
    json: (view) => partialJson(view, version),
    value: (view) => partialMetadata(view.object, version),
    emptyIsNull: true,
  };
}

function tableShape(table: TableShape, { metadata, items }: ListReply, options: TableOptions): ListShape {
  const { rows: _, ...head } = tableOfList(table, [], metadata, options);
  const { compare } = table;
  const work: RowWork = { visits: 0 };
  const rowOptions = { ...options, omitsColumns: true, work };
  const row = (view: ObjectView): Json => (tableOfObject(table, view.object, rowOptions).rows as Json[])[0] ?? null;
  return {
    head,
    arrayName: "rows",
    work,
    views: compare === undefined ? items : [...items].sort((a, b) => compare(a.object, b.object)),
    json: (view) => Buffer.from(JSON.stringify(row(view))),
    value: row,
  };
}
