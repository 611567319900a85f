import { notAcceptable, plainError } from "../../api/api-error.ts";
import type { ApiRequest } from "../../api/call.ts";
import type { Json, JsonObject } from "../../api/object.ts";
import type { ApiReply, ObjectView, TableShape } from "../../api/reply.ts";
import { parseJson } from "../json/json.ts";
import type { OutputForm, Transform } from "../negotiation/negotiate.ts";
import type { SchemaOf } from "../protobuf/envelope.ts";
import type { ListShape } from "./list-writer.ts";
import { partialJson, partialMetadata } from "./partial-metadata.ts";
import { parseIncludeObject, type TableOptions, tableOfList, tableOfObject } from "./table.ts";

/** What forms depend on besides the reply. */
export interface FormContext {
  /** The path belongs to a custom resource: the real server serves those without the router of the built-in ones. */
  readonly isCustom?: boolean;
  /** The current time in milliseconds; ages in tables are counted to it. */
  readonly now: () => number;
  /** Finds the messages of kinds. Absent: protobuf is not offered. */
  readonly schemaOf?: SchemaOf;
}

type ObjectReply = Extract<ApiReply, { readonly type: "object" }>;
type ListReply = Extract<ApiReply, { readonly type: "list" }>;

/** One object as another view of it. Throws 406 for a view that lists have. */
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

/** The Go type that the real server names: the package is the first word of the group. */
function goType(apiVersion: string, kind: string): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "core";
  return `${group.split(".")[0]}.${kind}`;
}

/** How tables are wanted. Throws 400. */
export function tableOptions(request: ApiRequest, transform: Transform, context: FormContext): TableOptions {
  const includeObject = parseIncludeObject(request.query.get("includeObject"));
  return { version: transform.version, includeObject, now: context.now() };
}

/** A list in the wanted view. Throws 406 for a view that only single objects have. */
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

/** Compat: an UnstructuredList: its items have their kind and apiVersion, and `continue` is there even if it is empty. */
function customList({ kind, apiVersion, metadata, items }: ListReply): ListShape {
  return {
    head: { kind, apiVersion, metadata: { ...metadata, continue: metadata.continue ?? "" } },
    arrayName: "items",
    views: items,
    value: (view) => view.object,
  };
}

// Whether items carry their kind is known to the bytes only.
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
  const rowOptions = { ...options, omitsColumns: true };
  const row = (view: ObjectView): Json => (tableOfObject(table, view.object, rowOptions).rows as Json[])[0] ?? null;
  return {
    head,
    arrayName: "rows",
    views: compare === undefined ? items : [...items].sort((a, b) => compare(a.object, b.object)),
    json: (view) => Buffer.from(JSON.stringify(row(view))),
    value: row,
  };
}
