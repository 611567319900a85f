import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { ServiceSpec } from "../../../types/service.ts";
import { kindUnderTest } from "../../kind.suite.ts";
import { coreKinds } from "../group.ts";
import { addressFieldErrors } from "./service-address-validation.ts";
import { settleFamilies } from "./service-families.ts";

const { complete, problems, warnings } = kindUnderTest(coreKinds, "Service");
const ports = [{ port: 80 }];
const FOUND = { clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.9"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };

test("sets defaults of a Service", () => {
  const common = { internalTrafficPolicy: "Cluster", sessionAffinity: "None" };
  const port = { port: 80, protocol: "TCP", targetPort: 80 };
  const rows: [spec: JsonObject, expected: JsonObject][] = [
    [{ ports }, { ...common, type: "ClusterIP", ports: [port] }],
    [
      { ports: [{ port: 80, targetPort: "web" }], type: "NodePort" },
      { ...common, type: "NodePort", externalTrafficPolicy: "Cluster", ports: [{ ...port, targetPort: "web" }] },
    ],
    [
      { ports, type: "LoadBalancer", externalTrafficPolicy: "Local" },
      {
        ...common,
        type: "LoadBalancer",
        externalTrafficPolicy: "Local",
        allocateLoadBalancerNodePorts: true,
        ports: [port],
      },
    ],
    [
      { type: "ExternalName", externalName: "x.example" },
      { type: "ExternalName", externalName: "x.example", sessionAffinity: "None" },
    ],
    [
      { ports, externalIPs: ["192.0.2.1"] },
      { ...common, type: "ClusterIP", externalIPs: ["192.0.2.1"], externalTrafficPolicy: "Cluster", ports: [port] },
    ],
    [
      { ports, sessionAffinity: "ClientIP" },
      {
        ...common,
        type: "ClusterIP",
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
        ports: [port],
      },
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(complete({ spec }).spec, expected);
});

test("reports errors of a Service in order", () => {
  const balancers = "may only be used when `type` is 'LoadBalancer'";
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{ ports }, []],
    [{}, ["spec.ports: Required value"]],
    [{ clusterIP: "None", clusterIPs: ["None"] }, []],
    [{ type: "ExternalName" }, ["spec.externalName: Required value"]],
    [{ type: "ExternalName", externalName: "a.example." }, []],
    [{ ports: [{ port: 1 }, { port: 2, name: "b" }] }, ["spec.ports[0].name: Required value"]],
    [
      { ports: [{ port: 70_000 }] },
      [
        "spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
        "spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
      ],
    ],
    [
      { ports: [{ port: 80, nodePort: 30_000 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      { ports, loadBalancerClass: "a/b", loadBalancerSourceRanges: ["10.0.0.0/8"] },
      [`spec.LoadBalancerSourceRanges: Forbidden: ${balancers}`, `spec.loadBalancerClass: Forbidden: ${balancers}`],
    ],
    [
      { ports, externalIPs: ["127.0.0.1"] },
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      { ports, healthCheckNodePort: 30_001 },
      [
        "spec.healthCheckNodePort: Invalid value: 30001: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(problems({ spec }), expected, JSON.stringify(spec));
});

test("rejects changes of addresses and families", () => {
  const previous = { spec: { ports, ...FOUND } };
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [
      { clusterIP: "10.0.0.8", clusterIPs: ["10.0.0.8"] },
      ['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set'],
    ],
    [
      { ipFamilies: ["IPv6"] },
      [
        'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
        'spec.clusterIPs[0]: Invalid value: "10.0.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [{ type: "ExternalName", externalName: "x.example" }, []],
  ];
  for (const [change, expected] of rows) {
    assert.deepEqual(problems({ spec: { ports, ...FOUND, ...change } }, { previous }), expected);
  }
});

test("a type that does not use a field drops it, unless the client changed it", () => {
  const previous = { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_007 }], ...FOUND } };
  const change = (spec: JsonObject) => problems({ spec: { ...FOUND, ...spec } }, { previous });
  assert.deepEqual(change({ type: "ClusterIP", ports: [{ port: 80, nodePort: 30_007 }] }), []);
  assert.deepEqual(change({ type: "ClusterIP", ports: [{ port: 80, nodePort: 30_008 }] }), [
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ]);
});

test("derives families from addresses, the policy and the ServiceCIDRs", () => {
  const rows: [spec: ServiceSpec, cluster: readonly string[], expected: unknown][] = [
    [{}, ["IPv4"], ["IPv4"]],
    [{}, ["IPv6", "IPv4"], ["IPv6"]],
    [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4"], ["IPv4"]],
    [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4", "IPv6"], ["IPv4", "IPv6"]],
    [{ clusterIP: "None", clusterIPs: ["None"] }, ["IPv4"], ["IPv4", "IPv6"]],
    [{ clusterIP: "None", clusterIPs: ["None"], selector: { a: "b" } }, ["IPv4"], ["IPv4"]],
    [{ clusterIP: "2001:db8::1", clusterIPs: ["2001:db8::1"] }, ["IPv4", "IPv6"], ["IPv6"]],
    [{ ipFamilyPolicy: "RequireDualStack" }, ["IPv4"], "this cluster is not configured for dual-stack services"],
    [{ ipFamilies: ["IPv6"] }, ["IPv4"], "not configured on this cluster"],
  ];
  for (const [spec, cluster, expected] of rows) {
    const next: ServiceSpec = { type: "ClusterIP", ...spec };
    const [error] = settleFamilies(next, undefined, cluster);
    if (error) assert.ok(error.message.endsWith(String(expected)), error.message);
    else assert.deepEqual(next.ipFamilies, expected);
  }
});

test("only load balancers have an ingress status", () => {
  const previous = { spec: { type: "LoadBalancer", ports, ...FOUND } };
  const write = (ingress: JsonObject[], before: JsonObject = previous) =>
    problems({ status: { loadBalancer: { ingress } } }, { previous: before, subresource: "status" });
  assert.deepEqual(write([{ ip: "192.0.2.1", ipMode: "VIP" }, { hostname: "lb.example" }]), []);
  assert.deepEqual(write([{ ip: "x", ipMode: "VIP" }]), [
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
  assert.deepEqual(write([{ hostname: "192.0.2.1" }]), [
    'status.loadBalancer.ingress[0].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
  ]);
  assert.deepEqual(write([{ hostname: "lb.example" }], { spec: { ports, ...FOUND } }), [
    "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
  ]);
});

test("warns about fields without effect", () => {
  assert.deepEqual(warnings({ spec: { ports, trafficDistribution: "PreferClose" } }), [
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ]);
  assert.deepEqual(warnings({ spec: { clusterIP: "None", sessionAffinity: "ClientIP" } }), [
    "spec.SessionAffinity is ignored for headless services",
  ]);
});

test("rejects a Service with more clusterIPs than a call can have arguments", () => {
  const clusterIPs = Array.from({ length: 200_000 }, (_, index) => `10.96.${index}`);
  const errors = addressFieldErrors({ type: "ClusterIP", clusterIP: "10.96.0", clusterIPs }, undefined);
  assert.equal(errors.length, clusterIPs.length + 1);
});
