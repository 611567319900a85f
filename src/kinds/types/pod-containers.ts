import type { Container } from "./container.ts";
import type { PodSpec } from "./pod.ts";

/** All containers of a pod: initContainers, containers, ephemeralContainers. */
export function containersOf({ initContainers, containers, ephemeralContainers }: PodSpec): Container[] {
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

/** A container and its field path. */
export interface PlacedContainer {
  readonly container: Container;
  readonly at: string;
}

/** initContainers, containers and ephemeralContainers of a pod with their field paths. */
export function containersWithPaths(spec: PodSpec, path: string): PlacedContainer[] {
  const found: PlacedContainer[] = [];
  for (const member of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, container] of (spec[member] ?? []).entries()) {
      found.push({ container, at: `${path}.${member}[${index}]` });
    }
  }
  return found;
}
