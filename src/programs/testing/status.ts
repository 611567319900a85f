import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import type { Fetch } from "../../serving/http/fetch.ts";
import { ApplyError, type ObjectName, objectPath, resourceOf } from "../library/apply.ts";
import { availableStatus } from "./available.ts";

/** Merges `status` into the status of an object. */
export async function writeStatus(
  fetch: Fetch,
  catalog: Catalog,
  object: ObjectName,
  status: object,
): Promise<KubeObject> {
  const resource = resourceOf(catalog, object);
  if (resource.subresources.status === undefined) {
    throw new Error(`${object.kind} has no status subresource: enable it in its CustomResourceDefinition`);
  }
  const headers = { "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ status });
  const path = `${objectPath(resource, object)}/status`;
  return read(await fetch(path, { method: "PATCH", headers, body }), object);
}

/** Writes the status of an available object. `nowMs` is the time of its conditions. */
export async function makeAvailable(
  fetch: Fetch,
  catalog: Catalog,
  object: ObjectName,
  nowMs: number,
): Promise<KubeObject> {
  const response = await fetch(objectPath(resourceOf(catalog, object), object));
  const current = await read(response, object);
  return writeStatus(fetch, catalog, object, availableStatus(current, nowMs));
}

async function read(response: Response, { kind, metadata }: ObjectName): Promise<KubeObject> {
  const answer = (await response.json()) as KubeObject;
  if (response.ok) return answer;
  throw new ApplyError(`setting the status of ${kind} ${metadata?.name}`, response.status, answer as JsonObject);
}
