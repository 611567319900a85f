import { ingressOf } from "../../kinds/types/service.ts";
import type { Controller, ControllerContext } from "../controllers/shared/controller.ts";
import type { Informers } from "../controllers/shared/informers.ts";
import { loop, synced } from "../controllers/shared/loop.ts";
import { INGRESS_ADDRESS } from "./addresses.ts";

const NAME = "simulated-ingress-controller";

/** Reports an address in the status of every Ingress, as an ingress controller would. Nothing is served there. */
export function ingresses({
  resources,
  client,
  informers,
  report,
}: ControllerContext & { readonly informers: Informers }): Controller {
  const { informer } = informers.of("networking.k8s.io", "ingresses");
  return loop({
    name: NAME,
    workers: 1,
    clock: resources.clock,
    report,
    sources: [synced(informer)],
    async sync(key) {
      const ingress = informer.get(key);
      // The address of another controller stays.
      if (ingress === undefined || ingressOf(ingress).length > 0) return;
      const { namespace = "", name = "" } = ingress.metadata;
      const status = { loadBalancer: { ingress: [{ ip: INGRESS_ADDRESS }] } };
      await client.patch(informer.resource, { namespace, name }, { status }, { subresource: "status" });
    },
  });
}
