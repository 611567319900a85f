import type { ControllerContext } from "./controller.ts";
import type { Informers } from "./informers.ts";

/** What a controller of kube-controller-manager works with. */
export interface ManagerContext extends ControllerContext {
  readonly informers: Informers;
  readonly addressRanges?: AddressRanges;
}

/** Ranges of addresses in the cluster, as CIDRs. */
export interface AddressRanges {
  /** Of Pods. One or none per IP family. Empty: nodes get no ranges. */
  readonly clusterCidrs: readonly string[];
  readonly serviceCidrs: readonly string[];
}
