import type { ControllerContext } from "./controller.ts";
import type { Informers } from "./informers.ts";

/** What a controller of kube-controller-manager works with. */
export interface ManagerContext extends ControllerContext {
  readonly informers: Informers;
}
