import { notFound, unsupportedVerb } from "../api/api-error.ts";
import type { Call } from "../api/call.ts";
import type { KubeObject } from "../api/object.ts";
import { parseListQuery, validateListQuery } from "../api/options.ts";
import type { ApiReply } from "../api/reply.ts";
import { findAction } from "../resources/model/actions.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { Verb } from "../resources/model/definition.ts";
import { viewObject } from "../resources/read/object-view.ts";
import { parseSelection } from "../resources/read/selection.ts";
import type { Target, VerbContext } from "./target.ts";

/** Whether the objects of a kind are not stored but made when they are asked for. */
export function isComputed({ definition }: ServedResource): boolean {
  return definition.storage === undefined && definition.actions?.compute !== undefined;
}

/** Answers for such a kind. */
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
  // Compat: the 404 of a ComponentStatus calls the resource by its singular, componentstatus.
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
