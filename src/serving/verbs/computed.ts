import { notFound, unsupportedVerb } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { parseListQuery, validateListQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { findAction } from "../../resources/model/actions.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Verb } from "../../resources/model/definition.ts";
import { viewObject } from "../../resources/read/object-view.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import type { Target, VerbContext } from "./target.ts";

/** Whether the objects of a kind are computed on each request instead of stored. */
export function isComputed({ definition }: ServedResource): boolean {
  return definition.storage === undefined && definition.actions?.compute !== undefined;
}

/** Serves the verbs of a computed kind. */
export function computed({ resources }: VerbContext, call: Call, target: Target, verb: Verb): Promise<ApiReply> {
  const { definition } = target.resource;
  const objects = () => findAction(resources.actions.compute, definition.actions?.compute ?? "")(resources.access);
  if (verb === "list") return listComputed(call, target, objects);
  if (verb === "get") return getComputed(target, objects);
  throw unsupportedVerb({ group: definition.group, resource: definition.plural }, verb);
}

async function getComputed(
  { resource, name }: Target,
  objects: () => Promise<readonly KubeObject[]>,
): Promise<ApiReply> {
  const { group, singular } = resource.definition;
  const found = (await objects()).find(({ metadata }) => metadata.name === name);
  // Compat: the 404 of a ComponentStatus contains the singular of the resource, componentstatus.
  if (!found) throw notFound({ group, resource: singular }, name);
  return { type: "object", code: 200, view: viewObject(found), table: resource.version.table };
}

async function listComputed(
  call: Call,
  { resource, namespace }: Target,
  objects: () => Promise<readonly KubeObject[]>,
): Promise<ApiReply> {
  const query = parseListQuery(call.request.query);
  validateListQuery(query);
  const { labelSelector, fieldSelector, shardSelector } = query;
  const selection = parseSelection(resource, { namespace, labelSelector, fieldSelector, shardSelector });
  const { definition, version, apiVersion } = resource;
  const items = (await objects())
    .filter((object) => selection.matches({ object, fields: [] }))
    .map((one) => viewObject(one));
  return { type: "list", kind: definition.listKind, apiVersion, metadata: {}, items, table: version.table };
}
