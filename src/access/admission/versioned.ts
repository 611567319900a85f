import { badRequest } from "../../base/api/api-error.ts";
import { apiVersionOf, isObject, type KubeObject } from "../../base/api/object.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { convertEventually } from "../../resources/model/conversion.ts";
import type { DefaultsContext, ServedVersion } from "../../resources/model/definition.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { AdmissionRequest } from "./plugin.ts";

/** Both objects of a write in one version of their kind. Upstream: `admission.VersionedAttributes`. */
export interface VersionedObjects {
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
}

/**
 * Converts the objects of a write to a version of their kind, without the empty lists and maps that Go's omitempty
 * omits. They share members with the objects of the request and must not be changed.
 */
export function inVersion(request: AdmissionRequest, apiVersion: string): Eventually<VersionedObjects> {
  const object = request.object && shown(request, request.object, apiVersion, request.holdsEmpties);
  const previous = request.previous && shown(request, request.previous, apiVersion);
  if (object instanceof Promise || previous instanceof Promise) {
    return Promise.all([object, previous]).then((both) => ({ object: both[0], previous: both[1] }));
  }
  return { object, previous };
}

function shown(
  { body }: AdmissionRequest,
  object: KubeObject,
  apiVersion: string,
  holdsEmpties = false,
): Eventually<KubeObject> {
  const { definition } = body;
  const plain = holdsEmpties ? withoutEmpties(body, object) : object;
  return plain.apiVersion === apiVersion ? plain : convertEventually(definition, plain, apiVersion);
}

function withoutEmpties({ definition }: AdmissionRequest["body"], object: KubeObject): KubeObject {
  const schema = versionOf(definition, object.apiVersion)?.schema();
  return schema ? (strategyOf(definition).decode(object, schema).value as KubeObject) : object;
}

function versionOf({ group, versions }: AdmissionRequest["body"]["definition"], apiVersion: string) {
  return versions.find(({ name }) => apiVersionOf(group, name) === apiVersion);
}

/**
 * Replaces the request's object with the result of a mutating plugin. Decodes it by the schema of its apiVersion, sets
 * defaults, and converts it back. Throws BadRequest if it does not fit the schema. Takes ownership of `next`.
 */
export function replaceObject(
  request: AdmissionRequest,
  next: KubeObject,
  defaults: DefaultsContext,
): Eventually<void> {
  const { object, body } = request;
  if (!object) throw new Error("the request has no object to replace");
  const { definition } = body;
  const version = versionOf(definition, next.apiVersion);
  if (!version) throw new Error(`${definition.kind} has no version ${next.apiVersion}`);
  const completed = complete(body, version, next, defaults);
  return proceed(convertEventually(definition, completed, object.apiVersion, object), (converted) => {
    for (const member of Object.keys(object)) if (!Object.hasOwn(converted, member)) delete object[member];
    Object.assign(object, converted);
  });
}

function complete(
  body: AdmissionRequest["body"],
  version: ServedVersion,
  next: KubeObject,
  context: DefaultsContext,
): KubeObject {
  const { definition } = body;
  const strategy = strategyOf(definition);
  const { value, error } = strategy.decode(next, version.schema());
  if (error !== undefined) throw badRequest(error);
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const apiVersion = apiVersionOf(definition.group, version.name);
  const made: KubeObject = { kind: definition.kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest };
  strategy.setDefaults({ ...body, version, apiVersion }, made, context);
  return made;
}
