import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeatureGates } from "../../../base/api/feature-gates.ts";
import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { checkClaimAdminAccess } from "../actions/device-admin-access.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { resourceClaimHooks } from "./claims.ts";
import { resourceKinds } from "./group.ts";

const claim = kindUnderTest(resourceKinds, "ResourceClaim");
const template = kindUnderTest(resourceKinds, "ResourceClaimTemplate");
const slice = kindUnderTest(resourceKinds, "ResourceSlice");
const taintRule = kindUnderTest(resourceKinds, "DeviceTaintRule");
const deviceClass = kindUnderTest(resourceKinds, "DeviceClass");

const asking = (...requests: Json[]): JsonObject => ({ spec: { devices: { requests } } });
const exactly = (change: JsonObject = {}): JsonObject => ({ name: "a", exactly: { deviceClassName: "c", ...change } });

test("a request defaults to one device, in every version", () => {
  const requestsOf = (object: KubeObject) => ((object.spec as JsonObject).devices as JsonObject).requests as Json[];
  const one = { allocationMode: "ExactCount", count: 1 };
  const [first] = requestsOf(claim.complete(asking(exactly({ tolerations: [{ key: "k" }] }))));
  const tolerations = [{ key: "k", operator: "Equal" }];
  assert.deepEqual(first, { name: "a", exactly: { deviceClassName: "c", tolerations, ...one } });
  const [flat, unnamed] = requestsOf(
    claim.complete(asking({ name: "a", deviceClassName: "c" }, { name: "b", firstAvailable: [{}] }), "v1beta1"),
  );
  assert.deepEqual(flat, { name: "a", deviceClassName: "c", ...one });
  const alternative = { name: "", deviceClassName: "", ...one };
  assert.deepEqual(unnamed, { name: "b", deviceClassName: "", firstAvailable: [alternative] });
});

test("rejects an invalid claim, with paths of the stored or the client's version", () => {
  const at = "spec.devices.requests[0]";
  const neither = `${at}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`;
  const rows: [body: JsonObject, expected: readonly string[], version?: string][] = [
    [asking(exactly()), []],
    [asking({ name: "a" }), [neither]],
    [asking({ name: "a" }), [neither], "v1beta1"],
    [
      asking({ ...exactly(), firstAvailable: [{ name: "b", deviceClassName: "c" }] }),
      [
        `${at}: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
      ],
    ],
    [
      asking(exactly({ allocationMode: "All", count: 2 })),
      [`${at}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`],
    ],
    [
      asking(exactly({ allocationMode: "Half" })),
      [`${at}.exactly.allocationMode: Unsupported value: "Half": supported values: "All", "ExactCount"`],
    ],
    [
      asking({ name: "a", deviceClassName: "c", allocationMode: "Half" }),
      [`${at}.allocationMode: Unsupported value: "Half": supported values: "All", "ExactCount"`],
      "v1beta1",
    ],
    [
      asking(exactly(), exactly()),
      [
        'spec.devices.requests[1]: Duplicate value: {"name":"a","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}}',
      ],
    ],
    [asking(exactly({ selectors: [{}] })), [`${at}.exactly.selectors[0].cel: Required value`]],
  ];
  for (const [body, expected, version] of rows) assert.deepEqual(claim.problems(body, { version }), expected);
  const devices = { requests: [exactly()], constraints: [{ requests: ["b"], matchAttribute: "x" }], config: [{}] };
  assert.deepEqual(claim.problems({ spec: { devices } }), [
    "spec.devices.constraints[0].requests[0]: Invalid value: \"b\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    "spec.devices.config[0].opaque: Required value",
    'spec.devices.constraints[0].matchAttribute: Invalid value: "x": a fully qualified name must be a domain and a name separated by a slash',
  ]);
  assert.deepEqual(claim.problems(asking(), { previous: asking(exactly()) }), [
    "spec: Invalid value: null: field is immutable",
  ]);
  const changed = template.problems({ spec: { metadata: { name: "x" } } }, { previous: { spec: {} } });
  assert.deepEqual(changed, [
    "spec.metadata.name: Forbidden: cannot be set",
    'spec: Invalid value: {"name":"x","Spec":{"Devices":{"Requests":null,"Constraints":null,"Config":null}}}: field is immutable',
  ]);
});

test("accepts an allocation once, and only for requested devices", () => {
  const result = { request: "a", driver: "d.example.com", pool: "p", device: "x" };
  const allocation = { devices: { results: [result] } };
  const problems = (status: JsonObject, before: JsonObject = {}) =>
    claim.problems({ status }, { previous: { ...asking(exactly()), status: before }, subresource: "status" });
  const reservedFor = [{ resource: "pods", name: "p", uid: "u" }];
  assert.deepEqual(
    problems({ allocation, reservedFor, devices: [{ driver: "d.example.com", pool: "p", device: "x" }] }),
    [],
  );
  assert.deepEqual(problems({ reservedFor: [{}] }), [
    ...["resource", "name", "uid"].map((member) => `status.reservedFor[0].${member}: Required value`),
    "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
  ]);
  assert.deepEqual(problems({ devices: [{ driver: "d", pool: "p", device: "x" }] }), [
    'status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"x","ShareID":""}: must be an allocated device in the claim',
  ]);
  const other = { devices: { results: [{ ...result, device: "y" }] } };
  assert.deepEqual(problems({ allocation: other }, { allocation }), [
    "status.allocation: Invalid value: null: field cannot be modified once set",
  ]);
});

test("allows admin access to devices only in labelled namespaces", async () => {
  const next = claim.created(asking(exactly({ adminAccess: true })));
  const namespaceWith = (labels: Record<string, string>): ObjectAccess =>
    ({ find: async () => ({ kind: "Namespace", apiVersion: "v1", metadata: { labels } }) }) as unknown as ObjectAccess;
  const problemsIn = async (access: ObjectAccess) => {
    const object = structuredClone(next);
    const context = {
      subresource: "",
      apiVersion: "resource.k8s.io/v1",
      now: 0,
      features: defaultFeatureGates,
      draft: new Draft(object),
    };
    await checkClaimAdminAccess({ next: object, previous: undefined, context, requestName: "", dryRun: false }, access);
    return resourceClaimHooks.validate?.(object, undefined, context).map(({ field }) => field);
  };
  assert.deepEqual(await problemsIn(namespaceWith({})), ["spec.devices.requests[0].adminAccess"]);
  assert.deepEqual(await problemsIn(namespaceWith({ "resource.kubernetes.io/admin-access": "true" })), []);
});

test("rejects an invalid ResourceSlice", () => {
  const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
  const good: JsonObject = { driver: "d.example.com", pool, allNodes: true };
  const device = (change: JsonObject): JsonObject => ({ devices: [{ name: "a", ...change }] });
  const capacity = (requestPolicy: JsonObject) =>
    device({ allowMultipleAllocations: true, capacity: { m: { value: "10", requestPolicy } } });
  const at = "spec.devices[0].capacity[m].requestPolicy";
  const union =
    "must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`";
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [device({ attributes: { "e.com/v": { version: "1.2.3" } } }), []],
    [
      { nodeName: "n" },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      { pool: { ...pool, resourceSliceCount: 0 } },
      ["spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"],
    ],
    [
      device({ attributes: { x: { string: "s", int: 1 } } }),
      [`spec.devices[0].attributes[x]: Invalid value: "{int, string}": ${union}`],
    ],
    [
      device({ nodeName: "n" }),
      [
        "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
      ],
    ],
    [device({ taints: [{ key: "k" }] }), ["spec.devices[0].taints[0].effect: Required value"]],
    [{ devices: [{ name: "a" }, { name: "a" }] }, ['spec.devices[1]: Duplicate value: "a"']],
    [
      device({ capacity: { m: { value: "1", requestPolicy: {} } } }),
      [`${at}: Forbidden: allowMultipleAllocations must be true`],
    ],
    [
      capacity({ default: "3", validValues: ["1", "2", "20"] }),
      [
        `${at}.validValues[2]: Invalid value: "20": option is larger than capacity value: 10`,
        `${at}.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`,
      ],
    ],
    [
      capacity({ default: "2", validRange: { min: "1", max: "8", step: "2" } }),
      [
        `${at}.validRange.step: Invalid value: "2": value is not a multiple of a given step (2) from (1)`,
        `${at}.validRange.step: Invalid value: "8": value is not a multiple of a given step (2) from (1)`,
      ],
    ],
  ];
  for (const [change, expected] of rows) assert.deepEqual(slice.problems({ spec: { ...good, ...change } }), expected);
  assert.deepEqual(slice.warnings({ spec: { ...good, driver: "D.example.com" } }), [
    'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters',
  ]);
});

test("sets timeAdded of a taint when its effect changes", () => {
  const taint = { key: "k", effect: "NoSchedule", timeAdded: "2024-01-02T03:04:05Z" };
  const timeOf = (object: KubeObject) => ((object.spec as JsonObject).taint as JsonObject).timeAdded;
  assert.equal(timeOf(taintRule.complete({ spec: { taint } })), taint.timeAdded);
  assert.match(String(timeOf(taintRule.complete({ spec: { taint: { ...taint, timeAdded: null } } }))), /^\d{4}-.*Z$/);
  const previous = taintRule.created({ spec: { taint } });
  const next = taintRule.created({ spec: { taint: { ...taint, effect: "NoExecute" } } });
  const hooks = resourceKinds.find(({ kind }) => kind === "DeviceTaintRule")?.hooks;
  hooks?.prepare?.(next, previous, {
    subresource: "",
    apiVersion: next.apiVersion,
    now: Date.parse("2030-01-01T00:00:00Z"),
    features: defaultFeatureGates,
    draft: new Draft(next),
  });
  assert.equal(timeOf(next), "2030-01-01T00:00:00Z");
  assert.deepEqual(taintRule.problems({ spec: { taint: { effect: "Explode" } } }), [
    'spec.taint.key: Invalid value: "": name part must be non-empty',
    "spec.taint.key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    'spec.taint.effect: Unsupported value: "Explode": supported values: "NoExecute", "NoSchedule", "None"',
  ]);
});

test("rejects a DeviceClass with invalid selectors and parameters", () => {
  const opaque = { driver: "", parameters: [1] };
  assert.deepEqual(deviceClass.problems({ spec: { selectors: [{}], config: [{ opaque }] } }), [
    "spec.selectors[0].cel: Required value",
    'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    "spec.config[0].opaque.driver: Required value",
  ]);
});

test("reports the name of a DeviceClass after coded checks, and before other declared rules", () => {
  const wrong = { metadata: { name: "A/b" }, spec: { selectors: [{}], extendedResourceName: "bad name" } };
  const fields = deviceClass.problems(wrong).map((problem) => problem.slice(0, problem.indexOf(":")));
  const declared = ["metadata.name", "spec.extendedResourceName", "spec.extendedResourceName"];
  assert.deepEqual(fields, ["spec.selectors[0].cel", ...declared]);
  const [tooLong] = deviceClass.problems({ metadata: { name: "a".repeat(254) }, spec: {} });
  assert.match(tooLong ?? "", /must be no more than 253 bytes$/);
});
