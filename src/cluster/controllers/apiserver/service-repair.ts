import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addressRecord, canonicalAddress, IP_ADDRESSES, isAddressRecord } from "../../../kinds/types/ip-address.ts";
import {
  allocatedNodePorts,
  NODE_PORTS,
  printNodePorts,
  readNodePorts,
} from "../../../kinds/types/range-allocation.ts";
import { addressesOf, specOf } from "../../../kinds/types/service.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { type Controller, type ControllerContext, type ReportProblem, unlessCode } from "../shared/controller.ts";

const CONTROLLER = "service-allocation-repair";
const INTERVAL_MS = 180_000;
/** A Service is stored after its IPAddress. After this time the request that writes both has certainly ended. */
const ADDRESS_GRACE_MS = 60_000;
/**
 * Number of rounds in which a nodePort must be unused before it is released. Upstream: `numRepairsBeforeLeakCleanup`.
 */
const PORT_ROUNDS = 3;
const { group: GROUP, resource: ADDRESSES } = IP_ADDRESSES;

/**
 * The repair controllers of ClusterIPs and nodePorts: bring IPAddresses and the RangeAllocation in line with Services.
 * A server that crashes between the two writes leaks an address or port, and imported data may lack the records.
 */
export function serviceRepair(context: ControllerContext): Controller {
  return {
    name: CONTROLLER,
    async run(signal) {
      const repair = new ServiceRepair(context);
      while (!signal.aborted) {
        await repair.round().catch((error: unknown) => context.report(CONTROLLER, error));
        await context.resources.clock.sleep(INTERVAL_MS, signal);
      }
    },
  };
}

/** Checks all services in repeated rounds. */
export class ServiceRepair {
  readonly #access: ObjectAccess;
  readonly #client: ObjectClient;
  readonly #addresses: ServedResource;
  readonly #report: ReportProblem;
  /** Number of rounds in which each port was unused. Losing this state only delays the release. */
  #suspects = new Map<number, number>();

  constructor({ resources, client, report }: ControllerContext) {
    this.#access = resources.access;
    this.#client = client;
    this.#addresses = storedResource(resources.catalog, GROUP, ADDRESSES);
    this.#report = report;
  }

  async round(): Promise<void> {
    // Records are read before services: a service that is read later is either recorded here, or was created or deleted
    // since.
    const taken = readNodePorts(await this.#access.findRecord(NODE_PORTS.place));
    const records = await this.#access.list(GROUP, ADDRESSES, "");
    const services = await this.#access.list("", "services", "");
    await this.#repairPorts(taken, services);
    await this.#repairAddresses(records, services);
  }

  async #repairPorts(taken: ReadonlySet<number>, services: readonly KubeObject[]): Promise<void> {
    const used = new Set(services.flatMap((service) => allocatedNodePorts(service)));
    const suspects = new Map<number, number>();
    for (const port of taken) if (!used.has(port)) suspects.set(port, (this.#suspects.get(port) ?? 0) + 1);
    const leaked = [...suspects].filter(([, rounds]) => rounds >= PORT_ROUNDS).map(([port]) => port);
    for (const port of leaked) suspects.delete(port);
    this.#suspects = suspects;
    await this.#access.changeRecord(NODE_PORTS.place, (record) => {
      const current = readNodePorts(record);
      const before = new Set(current);
      for (const port of leaked) current.delete(port);
      for (const port of used) current.add(port);
      const isSame = current.size === before.size && [...current].every((port) => before.has(port));
      return isSame ? undefined : printNodePorts(current);
    });
  }

  async #repairAddresses(found: readonly KubeObject[], services: readonly KubeObject[]): Promise<void> {
    const records = new Map(found.map((record) => [record.metadata.name ?? "", record]));
    const holders = new Map<string, KubeObject>();
    for (const service of services) {
      for (const address of addressesOf(specOf(service)).map(canonicalAddress)) {
        const other = holders.get(address);
        if (other)
          this.#report(CONTROLLER, new Error(`${address} is used by both ${nameOf(other)} and ${nameOf(service)}`));
        else holders.set(address, service);
      }
    }
    for (const [address, service] of holders) await this.#keepRecord(records.get(address), service, address);
    for (const [address, record] of records) if (!holders.has(address)) await this.#dropRecord(record);
  }

  /** Ensures that the IPAddress of a ClusterIP names its Service. */
  async #keepRecord(record: KubeObject | undefined, service: KubeObject, address: string): Promise<void> {
    const parent = parentOf(record);
    const { namespace, name } = service.metadata;
    if (record && parent.resource === "services" && parent.namespace === namespace && parent.name === name) return;
    const { uid } = record?.metadata ?? {};
    const wanted = addressRecord(service, address);
    // Another server may have been faster; the next round checks again.
    const isMine = record ? await this.#remove(record, uid) : true;
    if (isMine) await this.#client.create(this.#addresses, wanted).catch(unlessCode(409));
  }

  /** Deletes an IPAddress without a Service, unless a Service may be about to use it. */
  async #dropRecord(record: KubeObject): Promise<void> {
    if (!isAddressRecord(record)) return;
    const { uid, creationTimestamp = "" } = record.metadata;
    if (this.#access.clock.now() - Date.parse(creationTimestamp) < ADDRESS_GRACE_MS) return;
    await this.#remove(record, uid);
  }

  /** Returns true if this call deleted the record. */
  async #remove(record: KubeObject, uid: string | undefined): Promise<boolean> {
    try {
      await this.#client.delete(this.#addresses, keyOf(record), { preconditions: { uid } });
      return true;
    } catch (error) {
      unlessCode(404, 409)(error);
      return false;
    }
  }
}

const keyOf = ({ metadata }: KubeObject) => ({ namespace: "", name: metadata.name ?? "" });
const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;

function parentOf(record: KubeObject | undefined): JsonObject {
  const spec = record?.spec;
  return isObject(spec) && isObject(spec.parentRef) ? spec.parentRef : {};
}
