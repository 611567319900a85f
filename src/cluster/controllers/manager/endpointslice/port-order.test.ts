import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { portsKey, sortPorts } from "./port-order.ts";

suite("sortPorts", () => {
  test("orders ports like kube-controller-manager", () => {
    const ports = ["http", "https", "metrics", "grpc", ""].map((name, index) => ({
      ...{ name, port: 80 + index, protocol: "TCP" },
      ...(name === "grpc" && { appProtocol: "kubernetes.io/h2c" }),
    }));
    // From NewPortMapKey of k8s.io/endpointslice 0.37.1.
    assert.deepEqual(
      sortPorts(ports).map(({ name }) => name),
      ["grpc", "https", "", "http", "metrics"],
    );
  });
});

suite("portsKey", () => {
  test("ignores the order and tells missing members from empty ones", () => {
    const [http, named] = [{ port: 80 }, { name: "", port: 80 }];
    assert.equal(portsKey([http, named]), portsKey([named, http]));
    assert.notEqual(portsKey([http]), portsKey([named]));
    assert.equal(portsKey(null), portsKey([]));
  });
});
