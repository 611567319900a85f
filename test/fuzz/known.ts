import type { Difference } from "./twins.ts";

/** A difference from the real server that is known, and why it is there. */
export interface KnownDifference {
  /** Name of the starting object of a patch, or of the kind as `apps/v1/deployments`; a part of it will do. */
  readonly kind: string;
  /** Where the answers differ. */
  readonly path: RegExp;
  /** What the real server says there, when that matters. */
  readonly theirs?: RegExp;
  readonly reason: string;
}

/** What the fuzzers pass over. Each is also a gap to close. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    kind: "v1/services",
    path: /internalTrafficPolicy$/,
    reason:
      "the real server keeps the policy of a service that is only a name, and hides it except in answers to writes of the status; we do not keep it, so that its owner does not lose it by a write that leaves it out",
  },
  {
    kind: "v1/pods",
    path: /^status$/,
    theirs: /Pod Overhead set without corresponding RuntimeClass/,
    reason: "an empty overhead and none are the same to our admission plugin",
  },
  {
    kind: "resourceclaims",
    path: /^\.(causes|message)/,
    theirs: /Duplicate value: .*conditions\\*":\[\]/,
    reason: "a device of a status that stands twice is shown with null for the list of conditions that was sent empty",
  },
  {
    kind: "webhookconfigurations",
    path: /^\.metadata\.generation$/,
    reason: "the real server stores an empty caBundle, does not show it, and counts its absence from the next update",
  },
];

/** Whether a difference is one of the known ones. */
export function isKnown(kind: string, { path, theirs }: Difference): boolean {
  return KNOWN_DIFFERENCES.some(
    (known) =>
      kind.includes(known.kind) && known.path.test(path) && (known.theirs?.test(JSON.stringify(theirs) ?? "") ?? true),
  );
}
