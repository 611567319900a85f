import type { KubeObject } from "../../base/api/object.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import { type ObjectName, objectPath, resourceOf } from "../library/apply.ts";
import type { RequestObject } from "../library/object-requests.ts";
import { availableStatus } from "./available.ts";

/** Merges `status` into the status of an object. */
export async function writeStatus(
  request: RequestObject,
  catalog: Catalog,
  object: ObjectName,
  status: object,
): Promise<KubeObject> {
  const resource = resourceOf(catalog, object);
  if (resource.subresources.status === undefined) {
    throw new Error(`${object.kind} has no status subresource: enable it in its CustomResourceDefinition`);
  }
  const patch = { type: "application/merge-patch+json", body: { status } };
  return request({ what: whatOf(object), path: `${objectPath(resource, object)}/status`, patch });
}

/** Writes the status of an available object. `nowMs` is the time of its conditions. */
export async function makeAvailable(
  request: RequestObject,
  catalog: Catalog,
  object: ObjectName,
  nowMs: number,
): Promise<KubeObject> {
  const path = objectPath(resourceOf(catalog, object), object);
  const current = await request({ what: whatOf(object), path });
  return writeStatus(request, catalog, object, availableStatus(current, nowMs));
}

const whatOf = ({ kind, metadata }: ObjectName): string => `setting the status of ${kind} ${metadata?.name}`;
