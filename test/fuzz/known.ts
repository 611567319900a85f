import type { Difference } from "./twins.ts";

/** A difference from the real server that is known, and why it is there. */
export interface KnownDifference {
  readonly kind: string;
  readonly path: string;
  readonly reason: string;
}

/** What the fuzzer passes over. Each is also a gap to close. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    kind: "networkpolicy",
    path: ".metadata.generation",
    reason:
      "to us an empty map and none at all are the same; the real server counts a change of this kind between them",
  },
];

/** Whether a difference is one of the known ones. */
export function isKnown(kind: string, { path }: Difference): boolean {
  return KNOWN_DIFFERENCES.some((known) => known.kind === kind && known.path === path);
}
