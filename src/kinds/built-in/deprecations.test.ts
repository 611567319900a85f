import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { apiVersionOf } from "../../base/api/object.ts";
import { builtInKinds } from "./all.ts";

const recorded = new URL("../../../test/golden/recorded/", import.meta.url);
const WARNING =
  /299 - \\"((?:v1|[a-z.]+\.k8s\.io\/\w+) \w+) is deprecated in v([\d.]+)\+(?:, unavailable in v([\d.]+)\+)?(?:; use ([^\\]+))?\\"/g;

test("deprecates the versions that kube-apiserver was recorded to warn about", () => {
  const warnings = new Map<string, object>();
  for (const file of readdirSync(recorded)) {
    for (const [, version = "", since, removed, replacement] of readFileSync(new URL(file, recorded), "utf8").matchAll(
      WARNING,
    )) {
      warnings.set(version, { since, removed, replacement });
    }
  }
  assert.ok(warnings.size >= 15, `${warnings.size} warnings`);
  const ours = new Map<string, object>();
  for (const { group, kind, versions } of builtInKinds()) {
    for (const { name, deprecation } of versions) {
      if (deprecation)
        ours.set(`${apiVersionOf(group, name)} ${kind}`, {
          removed: undefined,
          replacement: undefined,
          ...deprecation,
        });
    }
  }
  for (const [version, warning] of warnings) assert.deepEqual(ours.get(version), warning, version);
  const unrecorded = [...ours.keys()].filter((version) => !warnings.has(version)).sort();
  assert.deepEqual(unrecorded, [
    "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy",
    "admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy",
    "certificates.k8s.io/v1beta1 PodCertificateRequest",
    "networking.k8s.io/v1beta1 IPAddress",
    "networking.k8s.io/v1beta1 ServiceCIDR",
    "resource.k8s.io/v1beta2 ResourceClaimTemplate",
    "resource.k8s.io/v1beta2 ResourceSlice",
    "v1 ComponentStatus",
  ]);
});
