import type { KubeObject } from "../../../../base/api/object.ts";
import { isAddressRecord } from "../../../../kinds/types/ip-address.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, type Queue, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { allocates, contains, overlap, rangesOf, type ServiceCidr, type ServiceCidrCondition } from "./ranges.ts";

const NAME = "service-cidr-controller";
const GROUP = "networking.k8s.io";
const FINALIZER = "networking.k8s.io/service-cidr-finalizer";
/** In this time all API servers notice the deletion and allocate no more addresses. */
const GRACE_MS = 10_000;

const READY: ServiceCidrCondition = {
  type: "Ready",
  status: "True",
  reason: "",
  message: "Kubernetes Service CIDR is ready",
};
const IN_USE: ServiceCidrCondition = {
  type: "Ready",
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

/**
 * service-cidr-controller: sets the condition Ready and a finalizer of ServiceCIDRs, and keeps the finalizer of a deleted one
 * until no Service needs its addresses.
 */
export function serviceCidrs(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: cidrs } = informers.of<ServiceCidr>(GROUP, "servicecidrs");
  const { informer: addresses } = informers.of<KubeObject>(GROUP, "ipaddresses");
  const recorder = new EventRecorder(context, NAME);
  const { definition, apiVersion } = cidrs.resource;

  /** The ServiceCIDRs from which an address may have been allocated. */
  const allocatorsOf = (address: string): ServiceCidr[] =>
    [...cidrs.all()].filter((cidr) => rangesOf(cidr).some((range) => allocates(range, address)));

  /** Whether other ServiceCIDRs contain all ranges of this one. */
  const isContained = (cidr: ServiceCidr): boolean => {
    const others = [...cidrs.all()].filter((one) => one.metadata.name !== cidr.metadata.name).flatMap(rangesOf);
    return rangesOf(cidr).every((range) => others.some((other) => contains(other, range)));
  };

  const isInUse = (cidr: ServiceCidr): boolean => {
    if (isContained(cidr)) return false;
    return [...addresses.all()].filter(isAddressRecord).some(({ metadata }) => {
      const allocators = allocatorsOf(metadata.name ?? "");
      return allocators.length === 1 && allocators[0]?.metadata.name === cidr.metadata.name;
    });
  };

  const setCondition = async ({ metadata, status }: ServiceCidr, wanted: ServiceCidrCondition): Promise<void> => {
    const current = status?.conditions?.find(({ type }) => type === wanted.type);
    const isSame =
      current?.status === wanted.status &&
      (current.reason ?? "") === wanted.reason &&
      current.message === wanted.message;
    if (isSame) return;
    const conditions = [{ ...wanted, lastTransitionTime: printTime(clock.now()) }];
    const applied = { kind: definition.kind, apiVersion, metadata: { name: metadata.name }, status: { conditions } };
    await client.apply(cidrs.resource, applied, { fieldManager: NAME, subresource: "status" });
  };

  const patchFinalizers = async ({ metadata }: ServiceCidr, member: string): Promise<void> => {
    const key = { namespace: "", name: metadata.name ?? "" };
    const patch = { metadata: { [member]: [FINALIZER] } };
    await client.patch(cidrs.resource, key, patch, { isStrategic: true }).catch(unlessCode(404));
  };

  const release = async (cidr: ServiceCidr, queue: Queue): Promise<void> => {
    if (isInUse(cidr)) return setCondition(cidr, IN_USE);
    const leftMs = GRACE_MS - (clock.now() - Date.parse(cidr.metadata.deletionTimestamp ?? ""));
    if (leftMs > 0) return queue.addAfter(keyOf(cidr), leftMs);
    if (hasFinalizer(cidr)) await patchFinalizers(cidr, "$deleteFromPrimitiveList/finalizers");
  };

  const protect = async (cidr: ServiceCidr): Promise<void> => {
    if (!hasFinalizer(cidr)) await patchFinalizers(cidr, "finalizers");
    await setCondition(cidr, READY).catch((error: unknown) => {
      const message = "The ServiceCIDR Status can not be set to Ready=True";
      recorder.record(cidrs.resource, cidr, "Warning", "KubernetesServiceCIDRError", message);
      throw error;
    });
  };

  return loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [
      source(cidrs, (queue) => (before, after) => {
        const cidr = after ?? before;
        if (cidr) queue.add(keyOf(cidr));
        if (before || !after) return;
        // A deleted one may be released because the new one contains it.
        const ranges = rangesOf(after);
        const isTouched = (one: ServiceCidr) =>
          rangesOf(one).some((range) => ranges.some((own) => overlap(own, range)));
        for (const one of [...cidrs.all()].filter(isTouched)) queue.add(keyOf(one));
      }),
      source(addresses, (queue) => (before, after) => {
        const address = after ?? before;
        if ((before && after) || !address || !isAddressRecord(address)) return;
        for (const cidr of allocatorsOf(address.metadata.name ?? "")) queue.add(keyOf(cidr));
      }),
    ],
    async sync(key, queue) {
      const cidr = cidrs.get(key);
      if (cidr) await (cidr.metadata.deletionTimestamp === undefined ? protect(cidr) : release(cidr, queue));
    },
  });
}

const hasFinalizer = ({ metadata }: ServiceCidr): boolean => metadata.finalizers?.includes(FINALIZER) ?? false;
