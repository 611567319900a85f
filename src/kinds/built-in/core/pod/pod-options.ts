/** Upstream's `PodValidationOptions`: what is tolerated because the stored pod or template already has it. */
export interface PodOptions {
  /** Whether this is a pod rather than a template. */
  readonly isPod: boolean;
  readonly allowsInvalidDeletionCost: boolean;
  readonly allowsPartsOfPages: boolean;
  readonly allowsInvalidSelectorValues: boolean;
  readonly allowsInvalidNodeValues: boolean;
  readonly allowsInvalidSpreadSelector: boolean;
  readonly spreadKeysWereWrong: boolean;
  readonly allowsAnyTokenPath: boolean;
  readonly allowsHostSysctls: boolean;
  readonly allowsInitRestartOnResize: boolean;
  readonly allowsDevicesOfOwnUsers: boolean;
  readonly allowsHostNetworkOfOwnUsers: boolean;
  readonly allowsEmptyImageReference: boolean;
  readonly allowsSysAdmin: boolean;
  readonly allowsComparisons: boolean;
}
