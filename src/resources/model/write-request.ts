/** The members of DeleteOptions that decide what happens to the object. */
export interface DeletionRequest {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  /** Deprecated form of Orphan (true) or Background (false). */
  readonly orphanDependents?: boolean;
}

/** Conditions that the stored object must meet for a deletion. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}
