import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { apiregistrationKinds } from "./group.ts";

const service = kindUnderTest(apiregistrationKinds, "APIService");
const spec = { group: "example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
const body = (change: JsonObject) => ({ metadata: { name: "v1.example.com" }, spec: { ...spec, ...change } });

test("a local APIService is available at once", () => {
  const { status } = service.created(body({}));
  const [condition] = (status as { conditions: JsonObject[] }).conditions;
  assert.deepEqual([condition?.type, condition?.status, condition?.reason], ["Available", "True", "Local"]);
  const remote = service.created(body({ service: { namespace: "n", name: "s" } }));
  assert.deepEqual(remote.status, {});
  assert.deepEqual((remote.spec as JsonObject).service, { namespace: "n", name: "s", port: 443 });
});

test("rejects an invalid APIService", () => {
  const rows: [change: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [{ group: "" }, ['metadata.name: Invalid value: "v1.example.com": must be `spec.version+"."+spec.group`: "v1."']],
    [
      { groupPriorityMinimum: 0, versionPriority: 1001, insecureSkipTLSVerify: true, caBundle: "QUJD" },
      [
        "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000",
        "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000",
        'spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle',
        "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
      ],
    ],
    [
      { service: { port: 70_000 } },
      [
        "spec.service.namespace: Required value",
        "spec.service.name: Required value",
        "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive",
      ],
    ],
  ];
  for (const [change, expected] of rows) assert.deepEqual(service.problems(body(change)), expected);
});
