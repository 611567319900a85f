import type { KubeObject } from "../../base/api/object.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Draft } from "../model/draft.ts";

/** Options of a write. */
export interface WriteOptions {
  /** Do everything but store the object. */
  readonly dryRun?: boolean;
  /** Validating admission; throws to reject. Called after preparation, before the write. */
  readonly admit?: (next: KubeObject, previous: KubeObject | undefined) => Promise<void>;
  /** The user who writes. Optional. If omitted, the server itself writes. */
  readonly user?: UserInfo;
  /** Receives texts for Warning headers. */
  readonly warn?: (text: string) => void;
}

/** Options of an update. */
export interface UpdateOptions extends WriteOptions {
  /** The subresource to write through, which limits what may change. */
  readonly subresource?: string;
  /** The uid that the stored object must have. */
  readonly uid?: string;
  /** The resourceVersion that the stored object must have, regardless of that in the wanted object. */
  readonly resourceVersion?: string;
  /** Create a missing object even if the kind does not allow that by PUT (apply). */
  readonly mayCreate?: boolean;
  /** Accept a missing resourceVersion even if the kind requires one (patches). */
  readonly isPatch?: boolean;
}

/** Computes the wanted object from the stored one. Called again after a conflict. Takes ownership of `current`. */
export type Change = (current: KubeObject | undefined) => Promise<Draft> | Draft;
