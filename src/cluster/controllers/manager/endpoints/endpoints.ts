import { parseAddress } from "../../../../base/net/ip-address.ts";
import type { EndpointAddress, EndpointSubset, Endpoints, SubsetPort } from "../../../../kinds/types/endpoints.ts";
import { NO_ADDRESS, type Service } from "../../../../kinds/types/service.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, isNamespaceTerminating, messageOf, unlessCode } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { type Informer, keyOf } from "../../shared/informer.ts";
import { loop, type Source, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { isReady } from "../../shared/pods.ts";
import { HEADLESS } from "../endpointslice/managed-slices.ts";
import { findPort, hasHostname, isEndpoint, podAddresses } from "../endpointslice/pod-endpoint.ts";
import { selectedPods, selectorOf } from "../endpointslice/selected-pods.ts";
import { hasAddress } from "../endpointslice/slice-plan.ts";
import { stampTriggerTime, TriggerTimes } from "../endpointslice/trigger-times.ts";
import { areSameSubsets, repackSubsets } from "./repack.ts";
import { isOverCapacity, truncateSubsets } from "./truncate.ts";

const NAME = "endpoints-controller";
const MANAGER = "endpoint-controller";
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const LEADER = "control-plane.alpha.kubernetes.io/leader";

/** endpoints-controller: writes the addresses and ports of the Pods that a Service selects to Endpoints of its name. */
export function endpoints(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { informer: services } = informers.of<Service>("", "services");
  const { informer: all } = informers.of<Endpoints>("", "endpoints");
  const { resource } = all;
  const selected = selectedPods(informers);
  const triggers = new TriggerTimes();
  const recorder = new EventRecorder(context, MANAGER);

  const remove = async (key: string): Promise<void> => {
    triggers.forget(key);
    const known = all.get(key);
    if (known === undefined) return;
    const { namespace = "", name = "" } = known.metadata;
    await client.delete(resource, { namespace, name }).catch(unlessCode(404));
  };

  const write = async (next: Endpoints, isNew: boolean): Promise<void> => {
    const { namespace, name } = next.metadata;
    try {
      const written = isNew ? await client.create(resource, next) : await client.update(resource, next);
      await all.sees(written.metadata.resourceVersion);
    } catch (error) {
      if (isNew && isNamespaceTerminating(error)) return;
      const [reason, text] = isNew
        ? ["FailedToCreateEndpoint", `Failed to create endpoint for service ${namespace}/${name}`]
        : ["FailedToUpdateEndpoint", `Failed to update endpoint ${namespace}/${name}`];
      recorder.record(resource, next, "Warning", reason, `${text}: ${messageOf(error)}`);
      throw error;
    }
  };

  return loop({
    name: NAME,
    workers: 5,
    gathers: true,
    clock: resources.clock,
    report,
    sources: [synced(services), selected.source, deletionsAndLeftovers(all)],
    async sync(key) {
      const service = services.get(key);
      if (service === undefined) return remove(key);
      if (service.spec?.type === "ExternalName" || selectorOf(service) === undefined) return;
      const pods = selected.podsOf(service);
      const triggerTime = triggers.next(key, service, pods);
      const subsets = repackSubsets(subsetsOf(service, pods));
      const current = all.get(key);
      if (current && isCurrent(current, subsets, service)) return;
      await write(nextEndpoints(current, service, subsets, triggerTime), current === undefined);
    },
  });
}

/** Endpoints whose Service is gone are found at the start. Endpoints that others create later are left alone. */
function deletionsAndLeftovers(all: Informer<Endpoints>): Source {
  return {
    load: (signal) => all.use(signal),
    observe(queue) {
      for (const one of all.all()) if (!Object.hasOwn(one.metadata.annotations ?? {}, LEADER)) queue.add(keyOf(one));
      return all.observe((before, after) => {
        if (before && after === undefined) queue.add(keyOf(before));
      });
    },
  };
}

/** A subset per Pod and port. Pods share port objects. */
function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const { publishNotReadyAddresses = false, ports = [], clusterIP } = service.spec ?? {};
  const subsets: EndpointSubset[] = [];
  const known = new Map<string, SubsetPort>();
  for (const pod of pods) {
    const address = isEndpoint(pod, publishNotReadyAddresses) ? addressOf(pod, service) : undefined;
    if (address === undefined) continue;
    const member = publishNotReadyAddresses || isReady(pod) ? "addresses" : "notReadyAddresses";
    if (ports.length === 0 && clusterIP === NO_ADDRESS) subsets.push({ [member]: [address] });
    for (const [index, port] of ports.entries()) {
      const number = findPort(pod, port);
      if (number === undefined) continue;
      const { name = "", protocol = "TCP", appProtocol } = port;
      const key = `${index} ${number}`;
      const found = known.get(key) ?? {
        ...(name !== "" && { name }),
        ...{ port: number, protocol },
        ...(appProtocol !== undefined && { appProtocol }),
      };
      known.set(key, found);
      subsets.push({ [member]: [address], ports: [found] });
    }
  }
  return subsets;
}

/** The first address of a Pod in the first family of the Service. */
function addressOf(pod: Pod, service: Service): EndpointAddress | undefined {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  const [ip] = podAddresses(pod, familyOf(service, pod));
  if (ip === undefined) return undefined;
  return {
    ip,
    nodeName: pod.spec?.nodeName ?? "",
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(hasHostname(pod, service) && { hostname: pod.spec?.hostname ?? "" }),
  };
}

function familyOf(service: Service, { status }: Pod): string {
  const { ipFamilies = [], clusterIP = "" } = service.spec ?? {};
  if (ipFamilies[0] !== undefined) return ipFamilies[0];
  const address = hasAddress(service) ? clusterIP : (status?.podIP ?? "");
  return parseAddress(address)?.length === 16 ? "IPv6" : "IPv4";
}

function isCurrent(
  { metadata, subsets: current = [] }: Endpoints,
  subsets: EndpointSubset[],
  service: Service,
): boolean {
  return (
    (areSameSubsets(current, subsets) || areSameSubsets(repackSubsets(current), subsets)) &&
    hasLabelsOf(metadata.labels ?? {}, service.metadata.labels ?? {}) &&
    !isOverCapacity(current) &&
    !Object.hasOwn(metadata.annotations ?? {}, OVER_CAPACITY)
  );
}

/** Upstream: labelsCorrectForEndpoints */
function hasLabelsOf(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  if (labels[MANAGED_BY] !== MANAGER) return false;
  const own = Object.keys(labels).filter((name) => name !== HEADLESS && name !== MANAGED_BY);
  return own.every((name) => wanted[name] === labels[name]) && own.length === Object.keys(wanted).length;
}

function nextEndpoints(
  current: Endpoints | undefined,
  service: Service,
  subsets: readonly EndpointSubset[],
  triggerTime: string | undefined,
): Endpoints {
  const { name = "", namespace = "" } = service.metadata;
  const { [HEADLESS]: _headless, ...labels } = service.metadata.labels ?? {};
  const { annotations = {}, ...metadata } = current?.metadata ?? { name, namespace };
  const { [OVER_CAPACITY]: _capacity, ...kept } = annotations;
  const next: Endpoints = {
    kind: "Endpoints",
    apiVersion: "v1",
    metadata: {
      ...metadata,
      labels: { ...labels, ...(!hasAddress(service) && { [HEADLESS]: "" }), [MANAGED_BY]: MANAGER },
      annotations: { ...kept, ...(isOverCapacity(subsets) && { [OVER_CAPACITY]: "truncated" }) },
    },
    subsets: truncateSubsets(subsets),
  };
  return stampTriggerTime(next, triggerTime);
}
