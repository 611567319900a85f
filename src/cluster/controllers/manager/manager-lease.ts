import type { ControllerContext } from "../shared/controller.ts";
import type { LeaderRecord } from "../shared/leader.ts";
import { leaseRecord } from "../shared/lease-record.ts";
import { DEFAULT_CONTROLLERS } from "./default-controllers.ts";

const DEFAULTS: ReadonlySet<string> = new Set(DEFAULT_CONTROLLERS.split(","));

/**
 * Whether these controllers must not run beside the real kube-controller-manager. The default controllers may: they do not
 * wait for its Lease, and do not make it wait, because an API without them is incomplete.
 */
export function needsLease(names: readonly string[]): boolean {
  return names.some((name) => !DEFAULTS.has(name));
}

/** The name of the Lease, with its namespace. */
export const MANAGER_LEASE = "kube-system/kube-controller-manager";

/** The Lease of kube-controller-manager. `isShared`: several servers use the store. `waits`: see `LeaderRecord`. */
export async function managerLease(
  context: ControllerContext,
  hostname: string,
  isShared: boolean,
  waits: (holder: string) => void,
): Promise<LeaderRecord> {
  const { access, random } = context.resources;
  const system = await access.find("", "namespaces", { namespace: "", name: "kube-system" }, "newest");
  // The only server of a store is still the holder after a crash, and need not wait.
  const id = isShared ? random.uuid() : (system?.metadata.uid ?? random.uuid());
  return { ...leaseRecord(context, "kube-controller-manager", `${hostname}_${id}`), waits };
}
