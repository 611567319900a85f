import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { endpointSliceHooks } from "./endpoint-slice.ts";
import { discoveryKinds } from "./group.ts";

const slice = kindUnderTest(discoveryKinds, "EndpointSlice");
const good: JsonObject = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] };

test("rejects an invalid EndpointSlice", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{ ports: [{ port: 80 }, { name: "x", appProtocol: "example.com/a" }] }, []],
    [{ addressType: "Smoke" }, ['addressType: Unsupported value: "Smoke": supported values: "FQDN", "IPv4", "IPv6"']],
    [{ addressType: "" }, ["addressType: Required value"]],
    [{ endpoints: [{ addresses: [] }] }, ["endpoints[0].addresses: Required value"]],
    [
      { addressType: "IPv6", endpoints: [{ addresses: ["FD00::1", "10.0.0.1"] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
        'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
      ],
    ],
    [
      { ports: [{}, { protocol: "" }] },
      [
        'ports[1].name: Duplicate value: ""',
        'ports[1].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      {
        addressType: "FQDN",
        endpoints: [{ addresses: ["short"], hints: { forZones: [{ name: "z" }, { name: "z" }] } }],
      },
      [
        'endpoints[0].addresses[0]: Invalid value: "short": should be a domain with at least two segments separated by dots',
        'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
      ],
    ],
  ];
  for (const [change, expected] of rows) assert.deepEqual(slice.problems({ ...good, ...change }), expected);
  const changed = slice.problems({ ...good, addressType: "FQDN", endpoints: [] }, { previous: good });
  assert.deepEqual(changed, ["addressType: Invalid value: null: field is immutable"]);
});

test("warns about FQDN endpoints", () => {
  assert.deepEqual(slice.warnings({ addressType: "FQDN", endpoints: [{ addresses: ["a.example.com"] }] }), [
    "spec.addressType: FQDN endpoints are deprecated",
  ]);
});

test("counts label changes as a new generation, and drops topology of older versions", () => {
  const previous = slice.created(good);
  const next = structuredClone({ ...previous, metadata: { ...previous.metadata, labels: { a: "b" } } });
  const context = {
    subresource: "",
    apiVersion: "discovery.k8s.io/v1",
    now: 0,
    features: defaultFeatureGates,
    draft: new Draft(next),
  };
  endpointSliceHooks.prepare?.(next, previous, context);
  assert.equal(next.metadata.generation, 2);
  const created = slice.created({ ...good, endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { a: "b" } }] });
  assert.deepEqual(created.endpoints, [{ addresses: ["10.0.0.1"], conditions: {} }]);
});
