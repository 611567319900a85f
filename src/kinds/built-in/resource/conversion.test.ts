import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { eachObject, objectsOf } from "../random-objects.suite.ts";
import { convertResource } from "./conversion.ts";

const VERSIONS = ["v1", "v1beta2", "v1beta1"];
const KINDS = ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"];
const apiVersionOf = (version: string) => `resource.k8s.io/${version}`;
const toStored = (object: KubeObject) => convertResource(object, apiVersionOf("v1"));

/** Removes invalid parts that one of the versions cannot express. */
function tidy(object: JsonObject): void {
  eachObject(object.spec, (part) => {
    if (part.allNodes === false) delete part.allNodes;
    if (isObject(part.exactly)) part.exactly.deviceClassName = "c";
  });
  const { spec } = object;
  const devices = isObject(spec) && Array.isArray(spec.devices) ? spec.devices : [];
  // v1beta1 always shows `basic`, even if it is empty.
  if (object.apiVersion === apiVersionOf("v1beta1")) for (const one of devices) if (isObject(one)) one.basic ??= {};
}

for (const kind of KINDS) {
  for (const version of VERSIONS) {
    test(`${kind} of ${version} survives storage and every other version`, () => {
      const objects = objectsOf(`io.k8s.api.resource.${version}.${kind}`, apiVersionOf(version), tidy);
      fc.assert(
        fc.property(objects, fc.constantFrom(...VERSIONS), (object, other) => {
          const before = structuredClone(object);
          const stored = toStored(object);
          assert.deepEqual(object, before, "the object given is left alone");
          assert.deepEqual(convertResource(stored, apiVersionOf(version)), object);
          assert.deepEqual(toStored(convertResource(stored, apiVersionOf(other))), stored);
        }),
        { numRuns: 60 },
      );
    });
  }
}

test("requests of v1beta1 have their fields one level higher", () => {
  const claim = (apiVersion: string, requests: Json[]): KubeObject => {
    return { kind: "ResourceClaim", apiVersion, metadata: {}, spec: { devices: { requests } } };
  };
  const rows: [older: Json, stored: Json][] = [
    [
      { name: "a", deviceClassName: "c", count: 2 },
      { name: "a", exactly: { deviceClassName: "c", count: 2 } },
    ],
    [
      { name: "a", deviceClassName: "", firstAvailable: [{ name: "b", deviceClassName: "c" }] },
      { name: "a", firstAvailable: [{ name: "b", deviceClassName: "c" }] },
    ],
    [{ name: "a", deviceClassName: "" }, { name: "a" }],
    [
      { name: "a", deviceClassName: "c", firstAvailable: [{ name: "b", deviceClassName: "d" }] },
      { name: "a", exactly: { deviceClassName: "c" }, firstAvailable: [{ name: "b", deviceClassName: "d" }] },
    ],
  ];
  for (const [older, stored] of rows) {
    assert.deepEqual(toStored(claim(apiVersionOf("v1beta1"), [older])), claim(apiVersionOf("v1"), [stored]));
    const shown = convertResource(claim(apiVersionOf("v1"), [stored]), apiVersionOf("v1beta1"));
    assert.deepEqual(shown, claim(apiVersionOf("v1beta1"), [older]));
  }
});
