import { notFound, unsupportedVerb } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { parseListQuery, validateListQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { type ComputedSelection, findAction } from "../../resources/model/actions.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Verb } from "../../resources/model/definition.ts";
import { viewObject } from "../../resources/read/object-view.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import type { Target, VerbContext } from "./target.ts";

/** Whether the objects of a kind are computed on each request instead of stored. */
export function isComputed({ definition }: ServedResource): boolean {
  return definition.storage === undefined && definition.actions?.compute !== undefined;
}

type Compute = (selection: ComputedSelection) => Promise<readonly KubeObject[]>;

/** Serves the verbs of a computed kind. */
export function computed({ resources }: VerbContext, call: Call, target: Target, verb: Verb): Promise<ApiReply> {
  const { definition } = target.resource;
  const action = findAction(resources.actions.compute, definition.actions?.compute ?? "");
  const compute: Compute = (selection) => action(resources.access, selection);
  if (verb === "list") return listComputed(call, target, compute);
  if (verb === "get") return getComputed(target, compute);
  throw unsupportedVerb({ group: definition.group, resource: definition.plural }, verb);
}

async function getComputed({ resource, namespace, name }: Target, compute: Compute): Promise<ApiReply> {
  const { group, singular } = resource.definition;
  const objects = await compute({ namespace, name, selects: ({ metadata }) => metadata.name === name });
  const found = objects.find(({ metadata }) => metadata.name === name);
  // Compat: the 404 of a ComponentStatus contains the singular of the resource, componentstatus.
  if (!found) throw notFound({ group, resource: singular }, name);
  return { type: "object", code: 200, view: viewObject(found), table: resource.version.table };
}

async function listComputed(call: Call, { resource, namespace }: Target, compute: Compute): Promise<ApiReply> {
  const query = parseListQuery(call.request.query);
  validateListQuery(query);
  const { labelSelector, fieldSelector, shardSelector } = query;
  const selection = parseSelection(resource, { namespace, labelSelector, fieldSelector, shardSelector });
  const { definition, version, apiVersion } = resource;
  const selects = (object: KubeObject) => selection.matches({ object, fields: [] });
  const objects = await compute({ namespace, name: selection.name ?? "", selects });
  const items = objects.filter(selects).map((one) => viewObject(one));
  return { type: "list", kind: definition.listKind, apiVersion, metadata: {}, items, table: version.table };
}
