import {
  badRequest,
  methodNotAllowed,
  notFound,
  plainError,
  unknownPath,
  unsupportedVerb,
} from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { printValue } from "../../base/api/field-error.ts";
import { pathSegment } from "../../base/api/names.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Verb } from "../../resources/model/definition.ts";
import { act, actionOf } from "./act.ts";
import { computed, isComputed } from "./computed.ts";
import { checkConnectMethod, connect, takesPath } from "./connect.ts";
import { create } from "./create.ts";
import { deleteObject } from "./delete.ts";
import { deleteCollection } from "./delete-collection.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { patch, requirePatchType } from "./patch.ts";
import { scaleTarget } from "./scale.ts";
import type { CollectionTarget, Target, VerbContext } from "./target.ts";
import { update } from "./update.ts";
import { watch } from "./watch.ts";

/** Serves a request for a resource of a served group version. */
export function dispatch(context: VerbContext, call: Call): Eventually<ApiReply> {
  const { info } = call;
  const served = context.resources.catalog.find(info.group, info.version, info.resource);
  if (served && (!context.open || !isOpen(served))) return dispatchTo(context, call, served);
  return dispatchOpen(context, call, served);
}

async function dispatchOpen(context: VerbContext, call: Call, served: ServedResource | undefined): Promise<ApiReply> {
  const found = await context.open?.find(call, served);
  if (!found) throw unknownPath();
  const { resource, created } = found;
  return dispatchTo(
    created ? { ...context, admission: callingBeforeCreate(context.admission, created) } : context,
    call,
    resource,
  );
}

const isOpen = ({ definition }: ServedResource): boolean => definition.reading === "open";

/** Calls `created` after admission has accepted a create, before the object is stored. Dry runs are ignored. */
function callingBeforeCreate(
  admission: VerbContext["admission"],
  created: () => Promise<void>,
): VerbContext["admission"] {
  return {
    mutate: (request) => admission.mutate(request),
    async validate(request) {
      await admission.validate(request);
      if (request.operation === "CREATE" && !request.dryRun) await created();
    },
  };
}

function dispatchTo(context: VerbContext, call: Call, resource: ServedResource): Eventually<ApiReply> {
  const { info } = call;
  checkScope(resource, info);
  const verb = checkVerb(resource, info, call.request.method);
  // Compat: go-restful rejects an unsupported patch Content-Type with 415 before the Warning about a deprecated
  // version.
  if (verb === "patch" && !isConnect(resource, info)) requirePatchType(call, resource);
  warnOfDeprecation(call, resource);
  const preparing = resource.version.prepareSchema?.();
  return preparing === undefined
    ? dispatchPrepared(context, call, resource, verb)
    : preparing.then(() => dispatchPrepared(context, call, resource, verb));
}

function dispatchPrepared(
  context: VerbContext,
  call: Call,
  resource: ServedResource,
  verb: Verb,
): Eventually<ApiReply> {
  const { info } = call;
  const target: CollectionTarget = {
    resource,
    collection: context.resources.collection(resource),
    namespace: resource.definition.scope === "Namespaced" ? info.namespace : "",
    name: info.name,
    subresource: info.subresource,
  };
  checkKey(target, verb);
  if (isConnect(resource, info)) return connect(context, call, target);
  const action = actionOf(context, target, verb);
  if (action) return act(context, call, target, action);
  if (isComputed(resource)) return computed(context, call, target, verb);
  if (!resource.definition.storage) throw unsupportedVerb(nameOf(target), verb);
  const scale = scaleTarget(target);
  if (scale) return runOnObject(context, call, scale, verb);
  if (info.subresource !== "" && resource.subresources[info.subresource]?.writes === undefined) {
    throw unsupportedVerb(nameOf(target), verb);
  }
  return run(context, call, target, verb);
}

function nameOf({ resource, subresource }: Target): { group: string; resource: string } {
  const { group, plural } = resource.definition;
  return { group, resource: subresource === "" ? plural : `${plural}/${subresource}` };
}

/** Throws 404 for a path that has no route: wrong scope, or unknown subresource. */
function checkScope(resource: ServedResource, info: RequestInfo): void {
  const isNamespaced = resource.definition.scope === "Namespaced";
  if (info.verb === "proxy") throw unknownPath();
  if (!isNamespaced && info.isInNamespace) throw unknownPath();
  if (isNamespaced && !info.isInNamespace && info.name !== "") throw unknownPath();
  if (info.subresource !== "" && !resource.subresources[info.subresource]) {
    const { group, plural, presence } = resource.definition;
    // Compat: `crdHandler` returns NotFound for the object.
    throw presence ? notFound({ group, resource: plural }, info.name) : unknownPath();
  }
  const subresource = resource.subresources[info.subresource];
  if (info.rest !== "" && !(subresource && takesPath(subresource))) throw unknownPath();
  // Compat: kinds that can only be created, such as TokenReview, have no paths for single objects.
  if (info.name !== "" && resource.definition.verbs.every((verb) => verb === "create")) throw unknownPath();
}

const isConnect = (resource: ServedResource, { subresource }: RequestInfo): boolean =>
  resource.subresources[subresource]?.connect === true;

const COLLECTION_VERBS: readonly string[] = ["list", "watch", "create", "deletecollection"];
const OBJECT_VERBS: readonly string[] = ["get", "update", "patch", "delete"];

/** Returns the verb of the request. Throws 405 if the path does not accept it. */
function checkVerb(resource: ServedResource, info: RequestInfo, method: string): Verb {
  const { verb, name, subresource } = info;
  const below = resource.subresources[subresource];
  if (below?.connect && !info.watchPath) {
    checkConnectMethod(below, method);
    return verb as Verb;
  }
  const allowed: readonly string[] = subresource === "" ? resource.definition.verbs : (below?.verbs ?? []);
  if (!allowed.includes(verb) || method === "HEAD") throw methodNotAllowed();
  if (info.watchPath) {
    if (method !== "GET") throw methodNotAllowed();
    return "watch";
  }
  if (subresource === "") {
    const onPath = name === "" ? COLLECTION_VERBS : OBJECT_VERBS;
    if (!onPath.includes(verb)) throw methodNotAllowed();
  }
  const isAllNamespaces = resource.definition.scope === "Namespaced" && !info.isInNamespace;
  if (isAllNamespaces && verb !== "list" && verb !== "watch") throw methodNotAllowed();
  return verb as Verb;
}

const NO_SEGMENTS: readonly string[] = [".", ".."];

/** Compat: NamespaceKeyFunc rejects names that are not path segments; storage.PrepareKey rejects such namespaces. */
function checkKey({ resource, namespace, name }: Target, verb: Verb): void {
  const hasBadName = name.includes("%") || NO_SEGMENTS.includes(name);
  if (hasBadName) throw badRequest(`Name parameter invalid: ${printValue(name)}: ${pathSegment(name).join(";")}`);
  if (verb === "create" || !NO_SEGMENTS.includes(namespace)) return;
  const { storage, plural } = resource.definition;
  const key = `/${storage?.prefix ?? plural}/${namespace}${name === "" ? "" : `/${name}`}`;
  throw plainError(500, `invalid key: ${printValue(key)}`);
}

function warnOfDeprecation(call: Call, { definition, version, apiVersion }: ServedResource): void {
  const { deprecation } = version;
  if (!deprecation) return;
  call.audit?.annotate("k8s.io/deprecated", "true");
  if (deprecation.message !== undefined) {
    call.warnings.push(deprecation.message);
    return;
  }
  if (deprecation.removed !== undefined) call.audit?.annotate("k8s.io/removed-release", deprecation.removed);
  const removed = deprecation.removed === undefined ? "" : `, unavailable in v${deprecation.removed}+`;
  const replacement = deprecation.replacement === undefined ? "" : `; use ${deprecation.replacement}`;
  call.warnings.push(
    `${apiVersion} ${definition.kind} is deprecated in v${deprecation.since}+${removed}${replacement}`,
  );
}

function run(context: VerbContext, call: Call, target: CollectionTarget, verb: Verb): Eventually<ApiReply> {
  switch (verb) {
    case "list":
      return list(context, call, target);
    case "watch":
      return watch(context, call, target);
    case "create":
      return create(context, call, target);
    case "delete":
      return deleteObject(context, call, target);
    case "deletecollection":
      return deleteCollection(context, call, target);
    default:
      return runOnObject(context, call, target, verb);
  }
}

/** Verbs that act on a single existing object, or on a view of it such as its scale. */
function runOnObject(context: VerbContext, call: Call, target: Target, verb: Verb): Eventually<ApiReply> {
  switch (verb) {
    case "get":
      return get(call, target);
    case "update":
      return update(context, call, target);
    case "patch":
      return patch(context, call, target);
    default:
      throw unsupportedVerb(nameOf(target), verb);
  }
}
