import { DEFAULT_CONTROLLERS } from "./default-controllers.ts";

const DEFAULTS: ReadonlySet<string> = new Set(DEFAULT_CONTROLLERS.split(","));

/**
 * Whether these controllers must not run beside the real kube-controller-manager. The default controllers may: they do not
 * wait for its Lease, and do not make it wait, because an API without them is incomplete.
 */
export function needsLease(names: readonly string[]): boolean {
  return names.some((name) => !DEFAULTS.has(name));
}
