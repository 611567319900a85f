import type { Random } from "./random.ts";
import type { Thing } from "./wire.ts";

/** The namespaces that the model writes to. */
export const NAMESPACES = ["default", "kube-public", "kube-system"] as const;

/** Names of objects; some are prefixes of others, and byte order differs from word order. */
export const NAMES = ["a", "a-b", "a.b", "a0", "b", "c", "c1", "c2", "d", "e", "f", "z"] as const;

/** Values of the label that selectors use. */
export const APPS = ["red", "green", "blue"] as const;

/** Selects the objects of a list or a watch. */
export interface Scope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  matches(thing: Thing): boolean;
}

/** All objects. */
export const ALL: Scope = { matches: () => true };

const app = (thing: Thing) => thing.metadata.labels?.app;

/** A random scope; most are such that objects enter and leave them. */
export function randomScope(random: Random): Scope {
  const namespace = random.percent(50) ? undefined : random.pick(NAMESPACES);
  const isInside = (thing: Thing) => namespace === undefined || thing.metadata.namespace === namespace;
  const one = random.pick(APPS);
  const other = random.pick(APPS);
  const name = random.pick(NAMES);
  const selectors: [Scope, ...Scope[]] = [
    ALL,
    { labelSelector: `app=${one}`, matches: (thing) => app(thing) === one },
    { labelSelector: `app!=${one}`, matches: (thing) => app(thing) !== one },
    { labelSelector: "app", matches: (thing) => app(thing) !== undefined },
    { labelSelector: "!app", matches: (thing) => app(thing) === undefined },
    { labelSelector: `app in (${one},${other})`, matches: (thing) => app(thing) === one || app(thing) === other },
    { labelSelector: `app notin (${one},${other})`, matches: (thing) => app(thing) !== one && app(thing) !== other },
    { fieldSelector: `metadata.name=${name}`, matches: (thing) => thing.metadata.name === name },
    { fieldSelector: `metadata.name!=${name}`, matches: (thing) => thing.metadata.name !== name },
  ];
  const selector = random.percent(40) ? ALL : random.pick(selectors);
  return { ...selector, namespace, matches: (thing) => isInside(thing) && selector.matches(thing) };
}

/** The path of a list or watch of a scope. Undefined parameters are omitted. */
export function pathOf(scope: Scope, parameters: Readonly<Record<string, string | number | undefined>> = {}): string {
  const query = new URLSearchParams();
  const { labelSelector, fieldSelector } = scope;
  for (const [name, value] of Object.entries({ labelSelector, fieldSelector, ...parameters }))
    if (value !== undefined) query.set(name, String(value));
  const folder = scope.namespace === undefined ? "" : `/namespaces/${scope.namespace}`;
  return `/api/v1${folder}/configmaps?${query}`;
}

/** Whether a list of the scope has remainingItemCount. */
export function countsRemaining(scope: Scope): boolean {
  return scope.labelSelector === undefined && scope.fieldSelector === undefined;
}
