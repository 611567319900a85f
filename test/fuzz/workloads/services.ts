import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import type { Random } from "../random.ts";
import { type Action, mergeStep, pathOf, type Step, type WorkloadKind, type World } from "./steps.ts";
import { changeAction, deleteAction, holdAction, isKept } from "./workload-actions.ts";

const COLLECTION = { kind: "Service", root: "/api/v1", plural: "services" };
const ENDPOINTS = { kind: "Endpoints", root: "/api/v1", plural: "endpoints" };
const SLICES = { kind: "EndpointSlice", root: "/apis/discovery.k8s.io/v1", plural: "endpointslices" };

interface Service extends KubeObject {
  readonly spec: { readonly selector?: JsonObject };
}

const PORTS: readonly JsonObject[][] = [
  [{ port: 80 }],
  [{ port: 80, targetPort: "http" }],
  [{ name: "dns", port: 53, protocol: "UDP", targetPort: "http" }],
  [
    { name: "a", port: 80, appProtocol: "kubernetes.io/h2c" },
    { name: "b", port: 81 },
    { name: "c", port: 82 },
  ],
  [{ name: "a", port: 80, targetPort: "http" }, { name: "b", port: 81 }, { name: "none", port: 1, targetPort: "none" }], // biome-ignore format: a table
];

const isOfJob = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ kind }) => kind === "Job") ?? false;

/**
 * Labels that Pods of the sequence have, or will have. Not those of Jobs: KWOK completes Pods without a change of Ready, which
 * updates no endpoints. So their addresses depend on when a Service was synced, also in the real program.
 */
export function randomLabels({ view, random }: World): JsonObject {
  const pods = (view.of("Pod") as Pod[]).filter((pod) => !isOfJob(pod));
  const apps = new Set(pods.map(({ metadata }) => metadata.labels?.app ?? "none"));
  const known = [...apps].sort().map((app): JsonObject => ({ app }));
  const others: JsonObject[] = [{ tier: "front" }, { app: "dep0" }, { app: "rep1", tier: "front" }];
  return random.pick(known.length > 0 && random.chance(0.75) ? known : others);
}

const randomPorts = (random: Random) => random.pick(PORTS);

const replace = (world: World, target: KubeObject, path: string, value: unknown): Step => ({
  title: `set ${path} of Service ${target.metadata.name} to ${JSON.stringify(value)}`,
  requests: () => [
    {
      method: "PATCH",
      path: pathOf(world, COLLECTION, target.metadata.name),
      type: "application/json-patch+json",
      body: [{ op: "add", path, value }],
    },
  ],
});

const CHANGES: readonly JsonObject[] = [
  ...[true, false].map((publishNotReadyAddresses) => ({ spec: { publishNotReadyAddresses } })),
  ...["PreferClose", "PreferSameNode", null].map((trafficDistribution) => ({ spec: { trafficDistribution } })),
  { metadata: { labels: { stage: "test" } } },
  { metadata: { labels: { stage: null, "service.kubernetes.io/headless": "x" } } },
  { metadata: { annotations: { note: "a" } } },
  ...["Auto", null].map((mode) => ({ metadata: { annotations: { "service.kubernetes.io/topology-mode": mode } } })),
  { spec: { selector: null } },
];

const ADDRESSES: readonly JsonObject[] = [
  { ip: "192.168.0.1" },
  { ip: "192.168.0.2", hostname: "two" },
  { ip: "192.168.0.3", nodeName: "some-node" },
  { ip: "2001:db8::1" },
];

function randomSubset(random: Random): JsonObject {
  const chosen = (list: readonly JsonObject[]) => list.filter(() => random.chance(0.5));
  const addresses = chosen(ADDRESSES);
  const notReadyAddresses = chosen(ADDRESSES);
  const ports = random.pick([[], [{ port: 80 }], [{ name: "a", port: 80 }, { name: "b", port: 90, protocol: "UDP" }]]); // biome-ignore format: a table
  const all = addresses.length + notReadyAddresses.length > 0 ? addresses : [...ADDRESSES];
  return { addresses: all, notReadyAddresses, ports };
}

/** Writes Endpoints for a Service without a selector, as users do. */
const endpointsAction: Action<Service> = {
  weight: 4,
  plan(world, { metadata, spec }) {
    if (spec.selector !== undefined) return undefined;
    const { random } = world;
    const { name = "" } = metadata;
    const path = pathOf(world, ENDPOINTS, name);
    if (world.view.get("Endpoints", name) && random.chance(0.2))
      return { title: `delete Endpoints ${name}`, requests: () => [{ method: "DELETE", path }] };
    const labels = random.pick([{}, { team: "red" }, { "endpointslice.kubernetes.io/skip-mirror": "true" }]);
    const annotations = random.pick([{}, { note: "x" }]);
    const subsets = random.some(3, () => randomSubset(random));
    const body = { metadata: { name, labels, annotations }, subsets };
    const isKnown = world.view.get("Endpoints", name) !== undefined;
    const request = isKnown ? { method: "PUT", path, body } : { method: "POST", path: pathOf(world, ENDPOINTS), body };
    return { title: `write Endpoints ${JSON.stringify(body)}`, requests: () => [request] };
  },
};

/** Deletes what the controllers wrote. */
const damageAction: Action<Service> = {
  weight: 1,
  plan(world, { metadata }) {
    const { name = "" } = metadata;
    return {
      title: `delete the EndpointSlices of Service ${name}`,
      requests: ({ view }) =>
        view
          .of("EndpointSlice")
          .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === name)
          .map((slice) => ({ method: "DELETE", path: pathOf(world, SLICES, slice.metadata.name) })),
    };
  },
};

/** Services. Their Endpoints and EndpointSlices are compared. */
export const SERVICES: WorkloadKind<Service> = {
  collection: COLLECTION,
  isDependent: true,
  controllers: ["endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller"],
  components: ["endpoint-controller", "endpoint-slice-controller", "endpoint-slice-mirroring-controller"],
  eventRules: {
    // They name random slices, and conflicts depend on time.
    FailedToUpdateEndpointSlices: "ignored",
    FailedToUpdateEndpoint: "ignored",
    // With every sync.
    TopologyAwareHintsDisabled: "presence",
  },
  create: (world) => {
    const { random } = world;
    const isHeadless = random.chance(0.3);
    return {
      ...(random.chance(0.3) && { metadata: { labels: { team: "red" } } }),
      spec: {
        ports: randomPorts(random),
        ...(random.chance(0.8) && { selector: randomLabels(world) }),
        ...(isHeadless && { clusterIP: "None" }),
        ...(isHeadless && random.chance(0.3) && { ports: [] }),
        ...(random.chance(0.2) && { publishNotReadyAddresses: true }),
      },
    };
  },
  actions: [
    { weight: 4, plan: (world, target) => replace(world, target, "/spec/selector", randomLabels(world)) },
    { weight: 3, plan: (world, target) => replace(world, target, "/spec/ports", randomPorts(world.random)) },
    changeAction(COLLECTION, 4, CHANGES),
    {
      weight: 1,
      plan: (world, target) =>
        mergeStep(world, "touch", COLLECTION, target, { metadata: { annotations: { n: String(world.nextNumber()) } } }),
    },
    endpointsAction,
    damageAction,
    deleteAction(COLLECTION),
    holdAction(COLLECTION),
  ],
  isSettled: (object) => object.metadata.deletionTimestamp === undefined || isKept(object),
};
