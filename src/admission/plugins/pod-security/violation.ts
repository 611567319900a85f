import type { Container } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { containersOf } from "../../../types/pod-containers.ts";

/** What PodSecurity judges: a pod, or a pod template. */
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

/** The names of those containers for which something holds. */
export function namesWhere(spec: PodSpec, holds: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(holds)
    .map(({ name = "" }) => name);
}

/** Every item in quotes, separated by commas. */
export function quoteAll(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(", ");
}

/** The singular or the plural, whichever fits. */
export function oneOrMore(count: number, singular: string, plural = `${singular}s`): string {
  return count === 1 ? singular : plural;
}

/** `container "a"` or `containers "a", "b"`. */
export function printContainers(names: readonly string[]): string {
  return `${oneOrMore(names.length, "container")} ${quoteAll(names)}`;
}

/** Who does something: the pod, some of its containers, or both. Empty when nobody does. */
export function printSetters(isPod: boolean, names: readonly string[]): string {
  const setters = isPod ? ["pod"] : [];
  if (names.length > 0) setters.push(printContainers(names));
  return setters.join(" and ");
}

/** Without duplicates and in order. */
export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}
