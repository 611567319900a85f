/** What a caller asked of a deletion: the members of DeleteOptions that decide what happens to the object. */
export interface DeletionRequest {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  /** The deprecated way to say Orphan (true) or Background (false). */
  readonly orphanDependents?: boolean;
}

/** What must be true of the stored object for a deletion to go ahead. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}
