import { MAX_SMALL_OBJECT_BYTES } from "../../../base/api/body-limits.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, NAME, text } from "../cells.ts";
import { defineKinds, deprecatedVersion } from "../row.ts";
import { leaseCandidateHooks, leaseHooks } from "./lease.ts";

/** The kinds of coordination.k8s.io: Lease and LeaseCandidate. */
export const coordinationKinds: ResourceDefinition[] = defineKinds(
  { group: "coordination.k8s.io", schemaPackage: "io.k8s.api.coordination" },
  [
    {
      kind: "Lease",
      plural: "leases",
      versions: ["v1"],
      columns: [NAME, column("Holder", "string", text(".spec.holderIdentity")), AGE],
      rules: {
        ...{ createsOnUpdate: true, requiresResourceVersion: true, freeFinalizers: true },
        maxBodyBytes: MAX_SMALL_OBJECT_BYTES,
      },
      hooks: leaseHooks,
    },
    {
      kind: "LeaseCandidate",
      plural: "leasecandidates",
      versions: [deprecatedVersion("v1beta1", "1.36", "1.39"), deprecatedVersion("v1alpha2", "1.35", "1.38")],
      columns: [
        NAME,
        column("LeaseName", "string", text(".spec.leaseName")),
        column("BinaryVersion", "string", text(".spec.binaryVersion")),
        column("EmulationVersion", "string", text(".spec.emulationVersion")),
        AGE,
      ],
      rules: {
        nameRule: "configMapKey",
        createsOnUpdate: true,
        requiresResourceVersion: true,
        freeFinalizers: true,
        maxBodyBytes: MAX_SMALL_OBJECT_BYTES,
      },
      hooks: leaseCandidateHooks,
    },
  ],
);
