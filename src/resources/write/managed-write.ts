import { isObject, type JsonObject, type KubeObject } from "../../api/object.ts";
import type { Clock } from "../../lib/clock.ts";
import { cloneJson } from "../../lib/clone.ts";
import { applyPatch } from "../../patch/apply/apply-patch.ts";
import type { ServedResource } from "../model/catalog.ts";
import { Draft } from "../model/draft.ts";
import type { ObjectKey } from "../model/keys.ts";
import { trackingScopeOf } from "../model/tracking-scope.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { Collection } from "./collection.ts";
import { printTime } from "./metadata.ts";
import { recordUpdate } from "./record-update.ts";

/** Where the collection of a kind is had. */
export interface Collections {
  readonly clock: Clock;
  collection(resource: ServedResource): Collection;
}

/** A part of the server that writes objects in its own name. */
export interface ServerWriter {
  readonly resources: Collections;
  /** What the write is recorded for. */
  readonly manager: string;
}

/** Creates an object with its defaults, owned by the writer. Throws AlreadyExists and Invalid. */
export async function createAs(
  writer: ServerWriter,
  resource: ServedResource,
  object: KubeObject,
): Promise<KubeObject> {
  const draft = new Draft({ ...cloneJson(object), apiVersion: resource.apiVersion });
  own(writer, resource, undefined, draft);
  return (await writer.resources.collection(resource).create(resource, draft, {})).object;
}

/** Changes an object; `change` owns what it gets and is called again when another writer was faster. Throws NotFound. */
export async function updateAs(
  writer: ServerWriter,
  resource: ServedResource,
  key: ObjectKey,
  change: (current: KubeObject) => KubeObject,
): Promise<void> {
  const changed = (current: KubeObject | undefined) => {
    // Only an existing object gets here: nothing allows this update to create one.
    const draft = new Draft(change(cloneJson(current as KubeObject)));
    own(writer, resource, current, draft);
    return draft;
  };
  await writer.resources.collection(resource).update(resource, key, changed, { isPatch: true });
}

/** Applies some fields of an object through a subresource, whoever owned them before. Throws NotFound. */
export async function applyAs(
  { resources, manager }: ServerWriter,
  resource: ServedResource,
  applied: KubeObject,
  subresource: string,
): Promise<void> {
  const scope = trackingScopeOf(resource, subresource);
  const { definition, apiVersion, version } = resource;
  const strategy = strategyOf(definition);
  const { namespace = "", name = "" } = applied.metadata;
  const apply = (live: KubeObject | undefined): Draft => {
    const now = printTime(resources.clock.now());
    const merged: JsonObject = applyPatch(scope, { live, applied: cloneJson(applied), manager, isForced: true, now });
    const { metadata, ...rest } = strategy.decode(merged, version.schema()).value;
    const next: KubeObject = {
      ...rest,
      kind: definition.kind,
      apiVersion,
      metadata: isObject(metadata) ? metadata : {},
    };
    strategy.setDefaults(resource, next);
    return new Draft(next);
  };
  await resources.collection(resource).update(resource, { namespace, name }, apply, { subresource, isPatch: true });
}

/** Fills in defaults and records the writer as the owner of what it has changed. Changes `draft`. */
function own(
  { resources, manager }: ServerWriter,
  resource: ServedResource,
  live: KubeObject | undefined,
  draft: Draft,
): void {
  strategyOf(resource.definition).setDefaults(resource, draft.object);
  recordUpdate(trackingScopeOf(resource, ""), draft, { live, manager, now: resources.clock.now() });
}
