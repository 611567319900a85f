import { isDeepStrictEqual } from "node:util";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { Resources } from "../../../resources/resources.ts";
import { type Controller, type ControllerContext, ensureObject, unlessCode } from "../shared/controller.ts";

/** The addresses of the Service default/kubernetes and of its endpoints. */
export interface Announcement {
  /** The ClusterIP of the Service kubernetes. */
  readonly clusterAddress: string;
  /** An address of this server that is reachable from outside. Undefined if there is none. */
  readonly ownAddress: string | undefined;
  readonly port: number;
  /** Whether other servers may use the same store. */
  readonly isShared: boolean;
}

const CONTROLLER = "kubernetes-service";
const KEY = { namespace: "default", name: "kubernetes" };
const METADATA = { name: KEY.name, namespace: KEY.namespace };
const INTERVAL_MS = 10_000;
const LEASE_SECONDS = 15;
const DISCOVERY = "discovery.k8s.io";
const LEASES = "masterleases/";

/** Keeps the Service default/kubernetes, and this server in its Endpoints and EndpointSlice while it runs. */
export function kubernetesService(context: ControllerContext, announcement: Announcement): Controller {
  const { resources, report } = context;
  const announcer = new Announcer(context, announcement);
  return {
    name: CONTROLLER,
    async run(signal) {
      while (!signal.aborted) {
        await announcer.announce().catch((error: unknown) => report(CONTROLLER, error));
        await resources.clock.sleep(INTERVAL_MS, signal);
      }
      await announcer.withdraw().catch((error: unknown) => report(CONTROLLER, error));
    },
  };
}

class Announcer {
  readonly #context: ControllerContext;
  readonly #resources: Resources;
  readonly #announcement: Announcement;
  #isPublished = false;

  constructor(context: ControllerContext, announcement: Announcement) {
    this.#context = context;
    this.#resources = context.resources;
    this.#announcement = announcement;
  }

  async announce(): Promise<void> {
    await this.#createService();
    const { ownAddress, isShared } = this.#announcement;
    if (ownAddress === undefined) return;
    if (!isShared) return this.#publish([ownAddress]);
    await this.#renewLease(ownAddress);
    const addresses = await this.#leasedAddresses();
    if (addresses.length > 0) await this.#publish(addresses);
  }

  /** Removes this server from the endpoints of the Service kubernetes. */
  async withdraw(): Promise<void> {
    const { ownAddress, isShared } = this.#announcement;
    if (ownAddress === undefined || !isShared) return;
    const { store } = this.#resources;
    const lease = await store.get(this.#leaseKey(ownAddress));
    if (lease) await store.delete(lease.key, lease.modRevision);
    await this.#publish((await this.#leasedAddresses()).filter((address) => address !== ownAddress));
  }

  async #createService(): Promise<void> {
    const { clusterAddress, port } = this.#announcement;
    const service = {
      kind: "Service",
      apiVersion: "v1",
      metadata: { ...METADATA, labels: { component: "apiserver", provider: "kubernetes" } },
      spec: {
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: port }],
        clusterIP: clusterAddress,
        type: "ClusterIP",
        sessionAffinity: "None",
        ipFamilyPolicy: "SingleStack",
      },
    };
    await ensureObject(this.#context, storedResource(this.#resources.catalog, "", "services"), service);
  }

  #leaseKey(address: string): string {
    return `${this.#resources.keys.root}${LEASES}${address}`;
  }

  /**
   * Compat: servers register at `masterleases/<ip>` in the format of `storageLeases`, so that a kube-apiserver can
   * share the store.
   */
  async #renewLease(address: string): Promise<void> {
    const { store, codec } = this.#resources;
    const key = this.#leaseKey(address);
    const current = await store.get(key);
    const lease = {
      kind: "Endpoints",
      apiVersion: "v1",
      metadata: { generation: current?.modRevision ?? 1 },
      subsets: [{ addresses: [{ ip: address }] }],
    };
    await store.put(key, codec.write(lease), current?.modRevision ?? 0, { ttlSeconds: LEASE_SECONDS });
  }

  async #leasedAddresses(): Promise<string[]> {
    const prefix = this.#leaseKey("");
    const { entries } = await this.#resources.store.list(prefix);
    return entries.map(({ key }) => key.slice(prefix.length));
  }

  /**
   * Compat: like `leaseEndpointReconciler`, the port of the endpoints is first this server's, and later that of the
   * server that started last.
   */
  async #port(): Promise<number> {
    const { port, isShared } = this.#announcement;
    const endpoints =
      isShared && this.#isPublished ? await this.#resources.access.find("", "endpoints", KEY) : undefined;
    this.#isPublished = true;
    const subset = Array.isArray(endpoints?.subsets) ? endpoints.subsets[0] : undefined;
    const [found] = isObject(subset) && Array.isArray(subset.ports) ? subset.ports : [];
    return isObject(found) && typeof found.port === "number" ? found.port : port;
  }

  async #publish(addresses: readonly string[]): Promise<void> {
    const port = await this.#port();
    const ports = [{ name: "https", port, protocol: "TCP" }];
    await this.#settle("", "endpoints", {
      kind: "Endpoints",
      apiVersion: "v1",
      metadata: { ...METADATA, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      ...(addresses.length > 0 ? { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }] } : {}),
    });
    const isIPv6 = addresses.some((address) => address.includes(":"));
    await this.#settle(DISCOVERY, "endpointslices", {
      kind: "EndpointSlice",
      apiVersion: `${DISCOVERY}/v1`,
      metadata: { ...METADATA, labels: { "kubernetes.io/service-name": KEY.name } },
      addressType: isIPv6 ? "IPv6" : "IPv4",
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: addresses.length > 0 ? [{ name: "https", protocol: "TCP", port }] : [],
    });
  }

  /** Creates or updates an object, unless it is as wanted. */
  async #settle(group: string, plural: string, wanted: KubeObject): Promise<void> {
    const { access, catalog } = this.#resources;
    const resource = storedResource(catalog, group, plural);
    const found = await access.find(group, plural, KEY);
    if (!found) return ensureObject(this.#context, resource, wanted);
    if (isSettled(found, wanted)) return;
    const { metadata, subsets: _subsets, ...rest } = found;
    const { metadata: own, ...content } = wanted;
    const labels = { ...metadata.labels, ...own.labels };
    // Another server may have been faster; each one retries at the next interval.
    const next = cloneJson({ ...rest, ...content, metadata: { ...metadata, labels } });
    await this.#context.client.update(resource, next).catch(unlessCode(404, 409));
  }
}

const CONTENT = ["subsets", "addressType", "endpoints", "ports"];

function isSettled(current: KubeObject, wanted: KubeObject): boolean {
  const { labels = {} } = current.metadata;
  return (
    Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => labels[key] === value) &&
    CONTENT.every((member) => isDeepStrictEqual(sorted(current[member]) ?? [], sorted(wanted[member]) ?? []))
  );
}

/** Sorts lists of addresses, whose order is irrelevant. */
function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item) ?? null);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([member, inner]) => [member, sorted(inner) ?? null]));
}
