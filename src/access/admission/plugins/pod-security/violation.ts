import type { Container } from "../../../../kinds/types/container.ts";
import type { PodSpec } from "../../../../kinds/types/pod.ts";
import { containersOf } from "../../../../kinds/types/pod-containers.ts";

/** What PodSecurity checks: a pod or a pod template. */
export interface JudgedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** A violated check: its reason and detail. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** A check of a Pod Security Standard. */
export type Check = (pod: JudgedPod) => Violation | undefined;

/** The names of the containers for which `holds` returns true. */
export function namesWhere(spec: PodSpec, holds: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(holds)
    .map(({ name = "" }) => name);
}

/** All items in quotes, separated by commas. */
export function quoteAll(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(", ");
}

/** The singular if `count` is 1, else the plural. */
export function oneOrMore(count: number, singular: string, plural = `${singular}s`): string {
  return count === 1 ? singular : plural;
}

/** `container "a"` or `containers "a", "b"`. */
export function printContainers(names: readonly string[]): string {
  return `${oneOrMore(names.length, "container")} ${quoteAll(names)}`;
}

/** The pod, some of its containers, or both, for messages. Empty if neither. */
export function printSetters(isPod: boolean, names: readonly string[]): string {
  const setters = isPod ? ["pod"] : [];
  if (names.length > 0) setters.push(printContainers(names));
  return setters.join(" and ");
}

/** Sorted, without duplicates. */
export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}
