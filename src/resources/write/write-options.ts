import type { KubeObject } from "../../api/object.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { Draft } from "../model/draft.ts";

/** How a write is to be done. */
export interface WriteOptions {
  /** Everything but the write itself happens. */
  readonly dryRun?: boolean;
  /** Validating admission: refuses by throwing. Called after preparation, before the write. */
  readonly admit?: (next: KubeObject, previous: KubeObject | undefined) => Promise<void>;
  /** Who writes; absent when the server itself does. */
  readonly user?: UserInfo;
  /** Receives texts for Warning headers. */
  readonly warn?: (text: string) => void;
}

/** How an update is to be done. */
export interface UpdateOptions extends WriteOptions {
  /** The write goes through this subresource and may change only what that allows. */
  readonly subresource?: string;
  /** The uid that the object must have. */
  readonly uid?: string;
  /** The resourceVersion that the object must have, whatever that of the wanted object is. */
  readonly resourceVersion?: string;
  /** A missing object is created even where the kind does not allow that by PUT (apply). */
  readonly mayCreate?: boolean;
  /** An absent resourceVersion is fine even where the kind demands one (patches). */
  readonly isPatch?: boolean;
}

/** Turns the stored object into the wanted one. Called again when another writer got there first. Owns `current`. */
export type Change = (current: KubeObject | undefined) => Promise<Draft> | Draft;
