import type { ObjectClient } from "../../resources/object-client.ts";
import type { Controller, ControllerContext } from "../controllers/shared/controller.ts";
import type { Informers } from "../controllers/shared/informers.ts";
import { ingresses } from "./ingresses.ts";
import { loadBalancers } from "./load-balancers.ts";

/** Dependencies of the controllers of a cloud provider. `client` acts as the API server. */
export interface CloudContext extends ControllerContext {
  readonly informers: Informers;
  /** A client of a service account in kube-system. */
  accountClient(name: string): ObjectClient;
}

/** What a cloud provider and an ingress controller do in a cluster. */
export function cloudControllers({ accountClient, ...context }: CloudContext): Controller[] {
  return [loadBalancers({ ...context, client: accountClient("service-controller") }), ingresses(context)];
}
