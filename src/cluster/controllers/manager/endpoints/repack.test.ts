import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { areSameSubsets, repackSubsets } from "./repack.ts";
import { truncateSubsets } from "./truncate.ts";

const PORTS = ["http", "https", "metrics", "grpc", ""].map((name, index) => ({
  ...(name !== "" && { name }),
  ...{ port: 80 + index, protocol: "TCP" },
  ...(name === "grpc" && { appProtocol: "kubernetes.io/h2c" }),
}));
const [HTTP, HTTPS, METRICS, GRPC, UNNAMED] = PORTS;
const TWO = { ip: "10.0.0.2", nodeName: "n", targetRef: { kind: "Pod", namespace: "default", name: "b", uid: "u2" } };

suite("repackSubsets", () => {
  test("gives every address one subset per combination of ports, in the order of kube-controller-manager", () => {
    const subsets = [
      { addresses: [TWO, { ip: "10.0.0.1" }], ports: PORTS },
      { addresses: [{ ip: "10.0.0.3", hostname: "h" }], ports: PORTS.slice(0, 2) },
      { notReadyAddresses: [{ ip: "10.0.0.4" }], ports: PORTS.slice(0, 2) },
      { notReadyAddresses: [{ ip: "10.0.0.5" }], ports: PORTS.slice(4) },
      { notReadyAddresses: [{ ip: "10.0.0.6" }] },
    ];
    const both = [{ ip: "10.0.0.1" }, TWO];
    // From RepackSubsets of Kubernetes 1.37.1.
    assert.deepEqual(repackSubsets(subsets), [
      { addresses: both, notReadyAddresses: [{ ip: "10.0.0.5" }], ports: [UNNAMED] },
      { addresses: both, ports: [GRPC, METRICS] },
      {
        addresses: [...both, { ip: "10.0.0.3", hostname: "h" }],
        notReadyAddresses: [{ ip: "10.0.0.4" }],
        ports: [HTTP, HTTPS],
      },
      { notReadyAddresses: [{ ip: "10.0.0.6" }] },
    ]);
  });

  test("lists an address that is not ready once as not ready", () => {
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }] }, { notReadyAddresses: [{ ip: "10.0.0.1" }] }];
    assert.deepEqual(repackSubsets(subsets), [{ notReadyAddresses: [{ ip: "10.0.0.1" }] }]);
  });
});

suite("areSameSubsets", () => {
  test("ignores resourceVersions of Pods", () => {
    const newer = { ...TWO, targetRef: { ...TWO.targetRef, resourceVersion: "7" } };
    assert.ok(areSameSubsets([{ addresses: [TWO] }], [{ addresses: [newer], ports: [] }]));
    assert.ok(!areSameSubsets([{ addresses: [TWO] }], [{ notReadyAddresses: [TWO] }]));
  });
});

suite("truncateSubsets", () => {
  const list = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}` }));
  const sizes = (subsets: ReturnType<typeof truncateSubsets>) =>
    subsets.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);

  test("keeps 1000 addresses in proportion, those that are ready first", () => {
    const many = [{ addresses: list(900), notReadyAddresses: list(5) }, { addresses: list(300) }];
    assert.deepEqual(sizes(truncateSubsets(many)), [[750, 0], [250, 0]]); // biome-ignore format: a table
    const mixed = [{ addresses: list(800), notReadyAddresses: list(300) }, { notReadyAddresses: list(100) }];
    assert.deepEqual(sizes(truncateSubsets(mixed)), [[800, 150], [0, 50]]); // biome-ignore format: a table
    assert.deepEqual(sizes(truncateSubsets([{ addresses: list(1000) }])), [[1000, 0]]);
  });
});
