import type { ControllerContext } from "./controller.ts";
import type { LeaderRecord } from "./leader.ts";
import { leaseRecord } from "./lease-record.ts";

/** How a server takes part in the leader election of a program. */
export interface ProgramLeaseOptions {
  /** Name of the program and of its Lease in kube-system. */
  readonly program: string;
  readonly hostname: string;
  /** Several servers use the store. */
  readonly isShared: boolean;
  /** See `LeaderRecord`. Called with the Lease, as `namespace/name`. */
  readonly waits: (lease: string, holder: string) => void;
}

/** The Lease of a program such as kube-controller-manager. */
export async function programLease(
  context: ControllerContext,
  { program, hostname, isShared, waits }: ProgramLeaseOptions,
): Promise<LeaderRecord> {
  const { access, random } = context.resources;
  const system = await access.find("", "namespaces", { namespace: "", name: "kube-system" }, "newest");
  // The only server of a store is still the holder after a crash, and need not wait.
  const id = isShared ? random.uuid() : (system?.metadata.uid ?? random.uuid());
  const record = leaseRecord(context, program, `${hostname}_${id}`);
  return { ...record, waits: (holder) => waits(`kube-system/${program}`, holder) };
}
