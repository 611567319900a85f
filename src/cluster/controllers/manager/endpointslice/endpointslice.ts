import { parseAddress } from "../../../../base/net/ip-address.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import type { Node } from "../../../../kinds/types/node.ts";
import { NO_ADDRESS, type Service } from "../../../../kinds/types/service.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, messageOf } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import type { Observer } from "../../shared/informer.ts";
import { loop, type Queue, source, synced } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { distributionHints, setHints, wantsTopologyHints } from "./hints.ts";
import { ManagedSlices, type SliceChanges } from "./managed-slices.ts";
import { isEndpoint, podEndpoint, podPorts, ZONE } from "./pod-endpoint.ts";
import { portsKey } from "./port-order.ts";
import { selectedPods, selectorOf } from "./selected-pods.ts";
import { endpointKey, MANAGER, type PortGroup, planSlices, recycle } from "./slice-plan.ts";
import { type Hinted, TopologyHints } from "./topology-hints.ts";
import { stampTriggerTime, TriggerTimes } from "./trigger-times.ts";
import { isNodeReady } from "./zone-capacity.ts";

const NAME = "endpointslice-controller";
/** Upstream: endpointSliceChangeMinSyncDelay */
const FOREIGN_CHANGE_MS = 1000;
const RETRIES = { minBackoffMs: 1000, maxBackoffMs: 1_000_000, retriesPerSecond: 10, retryBurst: 100 };

/** endpointslice-controller: writes the addresses and ports of the Pods that a Service selects to EndpointSlices. */
export function endpointSlices(context: ManagerContext): Controller {
  const { resources, informers, report } = context;
  const { informer: services } = informers.of<Service>("", "services");
  const { informer: nodes } = informers.of<Node>("", "nodes");
  const selected = selectedPods(informers);
  const slices = new ManagedSlices(context, MANAGER, FOREIGN_CHANGE_MS);
  const triggers = new TriggerTimes();
  const topology = new TopologyHints(() => nodes.all());
  const recorder = new EventRecorder(context, "endpoint-slice-controller");

  /** The endpoints by the numbers of their ports. Pods of unknown nodes are left out and reported in `problems`. */
  const groupPods = (service: Service, pods: readonly Pod[], addressType: string, problems: Problems): PortGroup[] => {
    const groups = new Map<string, PortGroup>();
    for (const pod of pods) {
      if (!isEndpoint(pod, true)) continue;
      const group = groupOf(groups, podPorts(service, pod));
      const { nodeName = "" } = pod.spec ?? {};
      const node = nodes.get(nodeName);
      if (node === undefined && service.spec?.publishNotReadyAddresses !== true) {
        const { namespace, name } = service.metadata;
        const text = `skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`;
        problems.set(text, undefined);
        continue;
      }
      const endpoint = podEndpoint(pod, node, service, addressType);
      if (endpoint.addresses.length > 0) group.endpoints.set(endpointKey(endpoint), endpoint);
    }
    return [...groups.values()];
  };

  const addHints = (
    key: string,
    service: Service,
    changes: SliceChanges,
    existing: EndpointSlice[],
    addressType: string,
  ): Hinted => {
    if (wantsTopologyHints(service)) return topology.apply(key, addressType, changes, existing);
    const message = `Topology Aware Hints has been disabled, addressType: ${addressType}`;
    const disabled = { type: "Warning", reason: "TopologyAwareHintsDisabled", message } as const;
    const events = topology.has(key) ? [disabled] : [];
    topology.forget(key, addressType);
    return { changes: setHints(changes, existing, distributionHints(service)), events };
  };

  const reconcile = async (key: string, service: Service, pods: readonly Pod[]): Promise<void> => {
    const triggerTime = triggers.next(key, service, pods);
    const existing = slices.of(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const types = addressTypes(service);
    const problems: Problems = new Map();
    const what = `Service ${key}`;
    for (const addressType of types) {
      const owner = { resource: services.resource, service, addressType };
      const own = existing.filter((slice) => slice.addressType === addressType);
      const planned = planSlices(owner, own, groupPods(service, pods, addressType, problems));
      const { changes: hinted, events } = addHints(key, service, planned, own, addressType);
      const { create, update, delete: surplus } = recycle(hinted, owner);
      const stamped = (slice: EndpointSlice) => stampTriggerTime(slice, triggerTime);
      const changes = { create: create.map(stamped), update: update.map(stamped), delete: surplus };
      await slices.write(changes, what).catch((error: unknown) => problems.set(messageOf(error), error));
      for (const { type, reason, message } of events)
        recorder.record(services.resource, service, type, reason, message);
    }
    for (const slice of existing.filter(({ addressType }) => !types.includes(addressType))) {
      const fail = (error: unknown) =>
        problems.set(`error deleting ${slice.metadata.name} EndpointSlice for ${what}: ${messageOf(error)}`, error);
      await slices.delete(slice).catch(fail);
    }
    throwProblems(problems);
  };

  /** Only zones and readiness count for hints. Services without hints do not depend on them. */
  const observeNode =
    (queue: Queue): Observer<Node> =>
    (before, after) => {
      const isSame =
        before &&
        after &&
        isNodeReady(before) === isNodeReady(after) &&
        before.metadata.labels?.[ZONE] === after.metadata.labels?.[ZONE];
      if (!isSame) for (const key of topology.nodesChanged()) queue.add(key);
    };

  return loop({
    name: NAME,
    workers: 5,
    gathers: true,
    clock: resources.clock,
    report,
    retries: RETRIES,
    sources: [synced(services), selected.source, slices.source, source(nodes, observeNode)],
    async sync(key, queue) {
      const service = services.get(key);
      if (service === undefined) {
        topology.forget(key);
        return triggers.forget(key);
      }
      if (service.spec?.type === "ExternalName" || selectorOf(service) === undefined) return;
      await slices.during(key, queue, async () => {
        try {
          await reconcile(key, service, selected.podsOf(service));
        } catch (error) {
          const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`;
          recorder.record(services.resource, service, "Warning", "FailedToUpdateEndpointSlices", message);
          throw error;
        }
      });
    },
  });
}

/** Errors by message. */
type Problems = Map<string, unknown>;

/** Upstream: NewAggregate */
function throwProblems(problems: Problems): void {
  if (problems.size === 0) return;
  const [[message, cause] = ["", undefined]] = problems;
  if (problems.size === 1) throw new Error(message, cause === undefined ? {} : { cause: causeOf(cause) });
  throw new Error(`[${[...problems.keys()].join(", ")}]`);
}

const causeOf = (error: unknown) => (error instanceof Error ? (error.cause ?? error) : error);

function groupOf(groups: Map<string, PortGroup>, ports: EndpointPort[]): PortGroup {
  const key = portsKey(ports);
  const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
  groups.set(key, group);
  return group;
}

/** The families of a Service. Services of old servers may lack them. */
function addressTypes({ spec = {} }: Service): string[] {
  const { ipFamilies = [], clusterIP = "" } = spec;
  const known = ipFamilies.filter((family) => family === "IPv4" || family === "IPv6");
  if (known.length > 0) return known;
  if (clusterIP === "" || clusterIP === NO_ADDRESS) return ["IPv4", "IPv6"];
  return [parseAddress(clusterIP)?.length === 16 ? "IPv6" : "IPv4"];
}
