import type { KubeObject } from "../../api/object.ts";
import type { TrackingScope } from "../../patch/apply/scope.ts";
import { trackUpdate } from "../../patch/apply/track-update.ts";
import type { Draft } from "../model/draft.ts";
import { printTime } from "./metadata.ts";

/** Who writes what, and when. */
export interface TrackedWrite {
  /** The stored object in the endpoint's version; undefined when the write creates it. */
  readonly live: KubeObject | undefined;
  /** The field manager. */
  readonly manager: string;
  /** In milliseconds. */
  readonly now: number;
}

/** Sets `metadata.managedFields` after a write that is not an apply. Changes `draft`. */
export function recordUpdate(scope: TrackingScope, draft: Draft, { live, manager, now }: TrackedWrite): void {
  const { metadata } = draft.object;
  const tracked = trackUpdate(scope, { live, next: draft.object, manager, now: printTime(now) });
  if (tracked.managedFields === undefined) delete metadata.managedFields;
  else metadata.managedFields = tracked.managedFields;
  draft.creatorFields = tracked.creatorFields;
}
