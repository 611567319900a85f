import type { Container } from "./container.ts";
import type { PodSpec } from "./pod.ts";

/** A container and where it stands. */
export interface PlacedContainer {
  readonly container: Container;
  readonly at: string;
}

/** All containers of a pod with their paths: those that come first, the others, and those that joined later. */
export function containersWithPaths(spec: PodSpec, path: string): PlacedContainer[] {
  const found: PlacedContainer[] = [];
  for (const member of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, container] of (spec[member] ?? []).entries()) {
      found.push({ container, at: `${path}.${member}[${index}]` });
    }
  }
  return found;
}
