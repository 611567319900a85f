import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { internalApiserverKinds } from "./group.ts";

const kind = kindUnderTest(internalApiserverKinds, "StorageVersion");
const server = { apiServerID: "a", encodingVersion: "v1", decodableVersions: ["v1"] };

test("sets a common encoding version if all servers agree", () => {
  const rows: [status: JsonObject, expected: readonly string[]][] = [
    [{}, []],
    [{ storageVersions: [server], commonEncodingVersion: "v1" }, []],
    [
      { storageVersions: [server] },
      ["status.commonEncodingVersion: Invalid value: null: the common encoding version is v1"],
    ],
    [
      { storageVersions: [server, { ...server, encodingVersion: "v2", servedVersions: ["v3"] }] },
      [
        'status.storageVersions[1].apiServerID: Duplicate value: "a"',
        'status.storageVersions[1].decodableVersions: Invalid value: ["v1"]: decodableVersions must include encodingVersion v2',
        'status.storageVersions[1].servedVersions[0]: Invalid value: "v3": individual served version : v3 must be included in decodableVersions : [v1]',
      ],
    ],
  ];
  for (const [status, expected] of rows) {
    assert.deepEqual(kind.problems({ status }, { previous: {}, subresource: "status" }), expected);
  }
});
