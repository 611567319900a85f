import { badRequest } from "../../base/api/api-error.ts";
import { type FieldSelector, matchesFields, parseFieldSelector } from "../../base/api/field-selector.ts";
import { type LabelSelector, matchesLabels, parseLabelSelector } from "../../base/api/label-selector.ts";
import { parseShardSelector } from "../../base/api/shard-selector.ts";
import type { EventTerm } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { SelectableValues } from "./selectable.ts";
import { fieldTerm, labelTerm } from "./selectable-index.ts";

/** The objects that a list or watch selects. */
export interface Selection {
  /** Empty: all namespaces. */
  readonly namespace: string;
  /** The only name that can match, if the selector determines it. */
  readonly name: string | undefined;
  /** Whether everything in the namespace matches, so nothing needs to be decoded. */
  readonly isEverything: boolean;
  /** Selections of a kind with the same key match the same objects of a namespace. */
  readonly key: string;
  /** What all matching objects have in common: fields and labels with one possible value. */
  readonly terms: readonly EventTerm[];
  /** The shard selector in canonical form, if there is one. */
  readonly shard: string | undefined;
  matches(values: SelectableValues): boolean;
}

/** The parameters of a selection. */
export interface SelectionRequest {
  readonly namespace: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly shardSelector: string;
}

/** Parses selectors for a kind. Throws BadRequest. */
export function parseSelection(resource: ServedResource, request: SelectionRequest): Selection {
  const labels = parseLabelSelector(request.labelSelector);
  const fields = parseFieldSelector(request.fieldSelector);
  const readers = fieldReaders(resource, fields);
  const readField = (values: SelectableValues) => (field: string) => readers.get(field)?.(values) ?? "";
  const pinned = fields.find((one) => one.field === "metadata.name" && one.isEqual)?.value;
  const shard = resource.version.noShardSelector ? undefined : parseShardSelector(request.shardSelector);
  const isEverything = labels.length === 0 && fields.length === 0 && shard === undefined;
  // Only watches need them.
  let key: string | undefined;
  let terms: EventTerm[] | undefined;
  return {
    namespace: request.namespace,
    name: pinned,
    isEverything,
    get key() {
      key ??= isEverything ? "" : JSON.stringify([request.labelSelector, request.fieldSelector, shard?.text]);
      return key;
    },
    get terms() {
      terms ??= termsOf(fields, labels);
      return terms;
    },
    shard: shard?.text,
    matches: (values) =>
      isEverything ||
      (matchesLabels(labels, values.object.metadata.labels) &&
        (fields.length === 0 || matchesFields(fields, readField(values))) &&
        (shard?.matches(values.object) ?? true)),
  };
}

function termsOf(fields: FieldSelector, labels: LabelSelector): EventTerm[] {
  const ofFields = fields.filter(({ isEqual }) => isEqual).map(({ field, value }) => fieldTerm(field, value));
  const ofLabels = labels.flatMap(({ key, operator, values: [only, ...others] }) => {
    const isEquality = operator === "=" || operator === "==" || operator === "in";
    return isEquality && only !== undefined && others.length === 0 ? [labelTerm(key, only)] : [];
  });
  return [...ofFields, ...ofLabels];
}

type FieldReader = (values: SelectableValues) => string;

/** Readers for the fields in the selector. Throws BadRequest if the kind does not support a field. */
function fieldReaders(resource: ServedResource, fields: FieldSelector): Map<string, FieldReader> {
  const readers = new Map<string, FieldReader>();
  for (const { field } of fields) {
    const own = resource.version.selectableFields?.findIndex((one) => one.name === field) ?? -1;
    if (own >= 0) readers.set(field, ({ fields }) => fields[own] ?? "");
    else if (field === "metadata.name") readers.set(field, ({ object }) => object.metadata.name ?? "");
    else if (field === "metadata.namespace") readers.set(field, ({ object }) => object.metadata.namespace ?? "");
    else throw badRequest(unknownField(resource, field));
  }
  return readers;
}

function unknownField(resource: ServedResource, field: string): string {
  const own = resource.definition.rules.unknownFieldMessage;
  if (own !== undefined) return own.replace("%s", field).replace("%v", resource.apiVersion);
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
