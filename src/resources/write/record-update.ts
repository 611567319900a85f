import type { KubeObject } from "../../base/api/object.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { trackUpdate } from "../../data/patch/apply/track-update.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { Draft } from "../model/draft.ts";
import { tracking } from "../model/tracking.ts";
import { printTime } from "./metadata.ts";

/** The circumstances of a tracked write. */
export interface TrackedWrite {
  /** The stored object in the endpoint's version. Undefined if the write creates it. */
  readonly live: KubeObject | undefined;
  /** The field manager. */
  readonly manager: string;
  /** In milliseconds. */
  readonly now: number;
}

/**
 * Sets metadata.managedFields after a write that is not an apply, through the object itself ("") or a subresource.
 * Changes `draft`.
 */
export function recordUpdate(
  resource: ServedResource,
  subresource: string,
  draft: Draft,
  { live, manager, now }: TrackedWrite,
): Eventually<void> {
  const update = { live, next: draft.object, manager, now: printTime(now) };
  const tracked = tracking(resource, subresource, (scope) => trackUpdate(scope, update));
  return proceed(tracked, ({ managedFields, creatorFields }) => {
    const { metadata } = draft.object;
    if (managedFields === undefined) delete metadata.managedFields;
    else metadata.managedFields = managedFields;
    draft.creatorFields = creatorFields;
  });
}
