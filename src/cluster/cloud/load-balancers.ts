import { ingressOf, type Service, specOf } from "../../kinds/types/service.ts";
import type { Controller, ControllerContext } from "../controllers/shared/controller.ts";
import { EventRecorder } from "../controllers/shared/event-recorder.ts";
import type { Informers } from "../controllers/shared/informers.ts";
import { loop, synced } from "../controllers/shared/loop.ts";
import { Addresses, type Family } from "./addresses.ts";

const NAME = "service-lb-controller";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

/** What this controller works with. `client` acts as the service account service-controller. */
export interface LoadBalancersContext extends ControllerContext {
  readonly informers: Informers;
}

/**
 * service-lb-controller of cloud-controller-manager, with a cloud whose load balancers are only addresses: a Service of
 * type LoadBalancer gets one at once.
 */
export function loadBalancers(context: LoadBalancersContext): Controller {
  const { resources, client, informers, report } = context;
  const { informer: services } = informers.of<Service>("", "services");
  const byAddress = services.index((service) => ingressOf(service).map(({ ip }) => ip ?? ""));
  const addresses = new Addresses((address) => byAddress.has(address));
  const events = new EventRecorder(context, "service-controller");

  const write = async ({ metadata: { namespace = "", name = "" } }: Service, patch: Patch): Promise<void> => {
    const key = { namespace, name };
    const written = await client.patch(services.resource, key, { ...patch }, { subresource: "status" });
    // The next Service must not get the same address.
    await services.sees(written.metadata.resourceVersion);
  };

  const ensure = async (service: Service): Promise<void> => {
    events.record(services.resource, service, "Normal", "EnsuringLoadBalancer", "Ensuring load balancer");
    const finalizers = [...finalizersOf(service).filter((one) => one !== FINALIZER), FINALIZER];
    if (!hasFinalizer(service)) await write(service, { metadata: { finalizers } });
    const { loadBalancerIP, ipFamilies = [] } = specOf(service);
    const ip = loadBalancerIP || addresses.choose((ipFamilies[0] ?? "IPv4") as Family);
    if (ip === undefined) throw new Error("no address is free for a load balancer");
    events.record(services.resource, service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer");
    await write(service, { status: { loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } } });
  };

  const remove = async (service: Service): Promise<void> => {
    events.record(services.resource, service, "Normal", "DeletingLoadBalancer", "Deleting load balancer");
    if (ingressOf(service).length > 0) await write(service, { status: { loadBalancer: { ingress: null } } });
    events.record(services.resource, service, "Normal", "DeletedLoadBalancer", "Deleted load balancer");
    const finalizers = finalizersOf(service).filter((one) => one !== FINALIZER);
    await write(service, { metadata: { finalizers } });
  };

  return loop({
    name: NAME,
    workers: 1,
    clock: resources.clock,
    report,
    sources: [synced(services)],
    async sync(key) {
      const service = services.get(key);
      if (service === undefined) return;
      if (wantsBalancer(service)) {
        if (!hasFinalizer(service) || ingressOf(service).length === 0) await ensure(service);
      } else if (hasFinalizer(service)) await remove(service);
    },
  });
}

interface Patch {
  readonly metadata?: { readonly finalizers: string[] };
  readonly status?: { readonly loadBalancer: { readonly ingress: { ip: string; ipMode: string }[] | null } };
}

const finalizersOf = ({ metadata }: Service): string[] => metadata.finalizers ?? [];
const hasFinalizer = (service: Service): boolean => finalizersOf(service).includes(FINALIZER);

/** Compat: `wantsLoadBalancer` is false for a Service with a class, which belongs to another controller. */
function wantsBalancer(service: Service): boolean {
  const { type, loadBalancerClass } = specOf(service);
  return type === "LoadBalancer" && loadBalancerClass === undefined && service.metadata.deletionTimestamp === undefined;
}
