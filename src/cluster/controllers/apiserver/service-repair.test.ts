import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { addressRecord } from "../../../kinds/types/ip-address.ts";
import { NODE_PORTS, printNodePorts, readNodePorts } from "../../../kinds/types/range-allocation.ts";
import { ObjectCodec } from "../../../resources/model/object-codec.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { TestCluster } from "../shared/controllers.suite.ts";
import { createServiceRange } from "./service-range.ts";
import { ServiceRepair } from "./service-repair.ts";

async function setUp() {
  const cluster = new TestCluster();
  await createServiceRange(cluster, ["10.0.0.0/24"]);
  const repair = new ServiceRepair(cluster);
  const { access, store, keys } = cluster.resources;
  /** Writes an object directly to the store, without its allocation records. */
  const plant = (place: string, object: KubeObject) => store.put(keys.root + place, new ObjectCodec().write(object), 0);
  const addresses = async () => (await access.list("networking.k8s.io", "ipaddresses", "")).map(nameOf);
  const taken = async () => [...readNodePorts(await access.findRecord(NODE_PORTS.place))];
  return { cluster, repair, plant, addresses, taken };
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";

const service = (name: string, clusterIP: string, nodePort: number): KubeObject => ({
  kind: "Service",
  apiVersion: "v1",
  metadata: { name, namespace: "default", uid: name },
  spec: { type: "NodePort", clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80, protocol: "TCP", nodePort }] },
});

test("records addresses and ports of services", async () => {
  const { cluster, repair, plant, addresses, taken } = await setUp();
  await plant("services/specs/default/a", service("a", "10.0.0.5", 30_005));
  await plant("services/specs/default/b", service("b", "10.0.0.6", 30_006));
  await repair.round();
  assert.deepEqual(await addresses(), ["10.0.0.5", "10.0.0.6"]);
  assert.deepEqual(await taken(), [30_005, 30_006]);
  assert.deepEqual(cluster.problems, []);
  await cluster.stop();
});

test("releases an address without a service after a while, but not one that belongs to another owner", async () => {
  const { cluster, repair, plant, addresses } = await setUp();
  const record = (address: string, ageMs: number): KubeObject => {
    const { metadata, ...rest } = addressRecord(service("gone", address, 0), address);
    return {
      ...rest,
      metadata: { ...metadata, uid: address, creationTimestamp: printTime(Date.now() - ageMs) },
    } as KubeObject;
  };
  await plant("ipaddresses/10.0.0.7", record("10.0.0.7", 120_000));
  await plant("ipaddresses/10.0.0.8", record("10.0.0.8", 1000));
  const foreign = record("10.0.0.9", 120_000);
  delete foreign.metadata.labels;
  await plant("ipaddresses/10.0.0.9", foreign);
  await repair.round();
  assert.deepEqual(await addresses(), ["10.0.0.8", "10.0.0.9"]);
  await cluster.stop();
});

test("corrects a record that names another service, and reports two services with one address", async () => {
  const { cluster, repair, plant } = await setUp();
  const wrong = addressRecord(service("other", "10.0.0.5", 0), "10.0.0.5");
  await plant("ipaddresses/10.0.0.5", { ...wrong, metadata: { ...wrong.metadata, uid: "u" } });
  await plant("services/specs/default/a", service("a", "10.0.0.5", 30_005));
  await plant("services/specs/default/b", service("b", "10.0.0.5", 30_006));
  await repair.round();
  const key = { namespace: "", name: "10.0.0.5" };
  const record = await cluster.resources.access.find("networking.k8s.io", "ipaddresses", key);
  assert.deepEqual(record?.spec, { parentRef: { resource: "services", namespace: "default", name: "a" } });
  assert.match(String(cluster.problems), /10\.0\.0\.5 is used by both default\/a and default\/b/);
  await cluster.stop();
});

test("releases a port that was unused for three rounds", async () => {
  const { cluster, repair, plant, taken } = await setUp();
  await plant(NODE_PORTS.place, printNodePorts(new Set([30_001, 30_002])));
  await plant("services/specs/default/a", service("a", "10.0.0.5", 30_002));
  for (const expected of [2, 2, 1]) {
    await repair.round();
    assert.equal((await taken()).length, expected);
  }
  assert.deepEqual(await taken(), [30_002]);
  await cluster.stop();
});
