import type { KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { DefaultsContext } from "../model/definition.ts";
import { Draft } from "../model/draft.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { Collection } from "./collection.ts";
import { recordUpdate } from "./record-update.ts";

/** Provides the collections of kinds. */
export interface Collections extends DefaultsContext {
  collection(resource: ServedResource): Collection;
}

/** A part of the server that writes objects on its own behalf. */
export interface ServerWriter {
  readonly resources: Collections;
  /** Field manager of the writes. */
  readonly manager: string;
}

/** Creates an object with defaults, owned by the writer. Throws AlreadyExists and Invalid. */
export async function createAs(
  writer: ServerWriter,
  resource: ServedResource,
  object: KubeObject,
): Promise<KubeObject> {
  const draft = new Draft({ ...cloneJson(object), apiVersion: resource.apiVersion });
  await own(writer, resource, undefined, draft);
  return (await writer.resources.collection(resource).create(resource, draft, {})).object;
}

/** Sets defaults and records the writer as owner of the fields it has changed. Changes `draft`. */
function own(
  { resources, manager }: ServerWriter,
  resource: ServedResource,
  live: KubeObject | undefined,
  draft: Draft,
): Eventually<void> {
  strategyOf(resource.definition).setDefaults(resource, draft.object, resources);
  return recordUpdate(resource, "", draft, { live, manager, now: resources.clock.now() });
}
