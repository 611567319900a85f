import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { Catalog, type ServedResource } from "../../../resources/model/catalog.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { KeySpace } from "../../../resources/model/keys.ts";
import { Resources } from "../../../resources/resources.ts";
import type { WriteOptions } from "../../../resources/write/write-options.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import type { PutOptions, WriteResult } from "../../../storage/store.ts";
import { StoreError } from "../../../storage/store.ts";
import { NODE_PORTS, readNodePorts } from "../../types/range-allocation.ts";
import { specOf } from "../../types/service.ts";
import { builtInKinds } from "../all.ts";
import { testActions } from "./actions.suite.ts";

const catalog = new Catalog(builtInKinds());
const services = catalog.find("", "v1", "services") as ServedResource;
const ports = [{ port: 80 }];

/** One of several servers on a store. */
class Replica {
  readonly resources: Resources;

  constructor(store: MemoryStore) {
    this.resources = new Resources({
      store,
      catalog,
      clock: systemClock,
      random: systemRandom,
      keys: new KeySpace("registry"),
      actions: testActions,
    });
  }

  async create(name: string, spec: JsonObject, options: WriteOptions = {}): Promise<KubeObject> {
    const metadata = { name, namespace: "default" };
    const object: KubeObject = cloneJson({ kind: "Service", apiVersion: "v1", metadata, spec });
    services.definition.hooks?.setDefaults?.(object, "v1", this.resources);
    const { collection } = this;
    return (await collection.create(services, new Draft(object), options)).object;
  }

  async change(name: string, change: (spec: JsonObject) => JsonObject): Promise<KubeObject> {
    const { collection } = this;
    const key = { namespace: "default", name };
    const { view } = await collection.update(
      services,
      key,
      (current) => {
        const next = { ...(current as KubeObject), spec: change(specOf(current as KubeObject)) };
        services.definition.hooks?.setDefaults?.(next, "v1", this.resources);
        return new Draft(next);
      },
      {},
    );
    return view.object;
  }

  async delete(name: string): Promise<void> {
    await this.collection.delete(services, { namespace: "default", name }, {}, {});
  }

  get collection() {
    return this.resources.collection(services);
  }

  async addresses(): Promise<string[]> {
    const records = await this.resources.access.list("networking.k8s.io", "ipaddresses", "");
    return records.map(({ metadata }) => metadata.name ?? "").toSorted();
  }

  async nodePorts(): Promise<number[]> {
    const record = await this.resources.access.findRecord(NODE_PORTS.place);
    return [...readNodePorts(record)].toSorted();
  }
}

async function cluster(store = new MemoryStore(), cidrs = ["10.0.0.0/24"]): Promise<Replica> {
  const replica = new Replica(store);
  const range = { kind: "ServiceCIDR", apiVersion: "networking.k8s.io/v1", metadata: { name: "kubernetes" } };
  await replica.resources.access.create("networking.k8s.io", "servicecidrs", { ...range, spec: { cidrs } });
  return replica;
}

const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error.message;
};

test("servers on one store never allocate an address or a port twice", async () => {
  const store = new MemoryStore();
  const replicas = [await cluster(store), new Replica(store), new Replica(store)];
  const made = await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const replica = replicas[index % replicas.length] as Replica;
      return specOf(await replica.create(`s${index}`, { type: "NodePort", ports: [{ port: 80 }] }));
    }),
  );
  const addresses = made.map(({ clusterIP }) => clusterIP ?? "");
  const nodePorts = made.map((spec) => spec.ports?.[0]?.nodePort ?? 0);
  assert.equal(new Set(addresses).size, 120);
  assert.equal(new Set(nodePorts).size, 120);
  const [one] = replicas as [Replica];
  assert.deepEqual(await one.addresses(), addresses.toSorted());
  assert.deepEqual(await one.nodePorts(), nodePorts.toSorted());
});

test("allocates a whole range, then fails", async () => {
  const one = await cluster(undefined, ["10.0.0.0/28"]);
  for (let index = 0; index < 14; index++) await one.create(`s${index}`, { ports });
  assert.match(
    await refusal(one.create("more", { ports })),
    /failed to allocate a serviceIP for Service "more": range is full/,
  );
  await one.delete("s3");
  await one.create("more", { ports });
  assert.equal((await one.addresses()).length, 14);
});

test("a specific address or port goes to the first request", async () => {
  const one = await cluster();
  const wanted = { type: "NodePort", clusterIP: "10.0.0.7", ports: [{ port: 80, nodePort: 30_123 }] };
  await one.create("first", wanted);
  assert.match(
    await refusal(one.create("second", { ports, clusterIP: "10.0.0.7" })),
    /provided IP is already allocated/,
  );
  assert.match(
    await refusal(one.create("third", { ...wanted, clusterIP: "10.0.0.8" })),
    /nodePort: Invalid value: 30123: provided port is already allocated/,
  );
  // The address of the third was released when its port was not available.
  assert.deepEqual(await one.addresses(), ["10.0.0.7"]);
  assert.deepEqual(await one.nodePorts(), [30_123]);
});

test("a failed create allocates nothing", async () => {
  const one = await cluster();
  await refusal(one.create("bad", { type: "NodePort", ports: [{ port: 80 }, { port: 81 }] }));
  const dry = await one.create("dry", { type: "NodePort", ports }, { dryRun: true });
  assert.equal(specOf(dry).clusterIP, "10.0.0.0");
  assert.equal(specOf(dry).ports?.[0]?.nodePort, 32_769);
  await one.create("there", { ports });
  await refusal(one.create("there", { type: "NodePort", ports }));
  assert.equal((await one.addresses()).length, 1);
  assert.deepEqual(await one.nodePorts(), []);
});

test("a change of type allocates and releases", async () => {
  const one = await cluster();
  const { clusterIP = "" } = specOf(await one.create("s", { ports }));
  const asPorts = specOf(await one.change("s", (spec) => ({ ...spec, type: "NodePort" })));
  assert.equal(asPorts.clusterIP, clusterIP);
  assert.deepEqual(await one.nodePorts(), [asPorts.ports?.[0]?.nodePort]);
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
  const balancer = specOf(await one.change("s", (spec) => ({ ...spec, ...local })));
  assert.equal((await one.nodePorts()).length, 2);
  assert.ok((await one.nodePorts()).includes(balancer.healthCheckNodePort ?? 0));
  const named = specOf(await one.change("s", (spec) => ({ ...spec, type: "ExternalName", externalName: "x.example" })));
  assert.equal(named.clusterIP, undefined);
  assert.deepEqual([await one.addresses(), await one.nodePorts()], [[], []]);
  await one.change("s", ({ externalName: _, ...spec }) => ({ ...spec, type: "ClusterIP" }));
  assert.equal((await one.addresses()).length, 1);
  await one.delete("s");
  assert.deepEqual(await one.addresses(), []);
});

test("ports with the same number share a nodePort", async () => {
  const one = await cluster();
  const both = ["TCP", "UDP"].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
  const { ports: found = [] } = specOf(await one.create("dns", { type: "NodePort", ports: both }));
  assert.equal(found[0]?.nodePort, found[1]?.nodePort);
  assert.equal((await one.nodePorts()).length, 1);
});

test("an object releases its allocations when its last finalizer is removed", async () => {
  const one = await cluster();
  await one.create("s", { type: "NodePort", ports });
  const key = { namespace: "default", name: "s" };
  const finalizers = (names: string[]) =>
    one.collection.update(
      services,
      key,
      (current) =>
        new Draft({
          ...(current as KubeObject),
          metadata: { ...(current as KubeObject).metadata, finalizers: names },
        }),
      {},
    );
  await finalizers(["example.com/hold"]);
  await one.delete("s");
  assert.equal((await one.addresses()).length, 1);
  await finalizers([]);
  assert.deepEqual([await one.addresses(), await one.nodePorts()], [[], []]);
});

/** Performs a write and then fails with an unknown outcome. */
class DoubtfulStore extends MemoryStore {
  isDoubtful = false;

  override async put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    const result = await super.put(key, value, expected, options);
    if (this.isDoubtful && key.includes("/services/specs/")) throw new StoreError("timeout", "no answer in time");
    return result;
  }
}

test("a write with unknown outcome keeps its allocations", async () => {
  const store = new DoubtfulStore();
  const one = await cluster(store);
  store.isDoubtful = true;
  await refusal(one.create("s", { type: "NodePort", ports }));
  store.isDoubtful = false;
  const stored = await one.resources.access.find("", "services", { namespace: "default", name: "s" });
  assert.ok(stored);
  assert.deepEqual(await one.addresses(), [specOf(stored).clusterIP]);
  assert.deepEqual(await one.nodePorts(), [specOf(stored).ports?.[0]?.nodePort]);
});

test("a dual-stack cluster allocates an address of each family", async () => {
  const one = await cluster(undefined, ["10.0.0.0/24", "2001:db8::/112"]);
  const dual = specOf(await one.create("dual", { ports, ipFamilyPolicy: "RequireDualStack" }));
  assert.deepEqual(dual.ipFamilies, ["IPv4", "IPv6"]);
  assert.match(dual.clusterIPs?.[1] ?? "", /^2001:db8::/);
  const single = specOf(await one.change("dual", (spec) => ({ ...spec, ipFamilyPolicy: "SingleStack" })));
  assert.deepEqual(single.clusterIPs, [dual.clusterIP]);
  assert.deepEqual(await one.addresses(), [dual.clusterIP]);
});
