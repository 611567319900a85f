import { humanDuration } from "../../../base/api/human-duration.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { AGE, column, findCondition, labels, NAME, read, readObjects, readText, text } from "../cells.ts";
import { defineKinds, deprecatedVersion, FIELD_LABEL_NOT_SUPPORTED, STATUS, selectable } from "../row.ts";
import { podCertificateRequestHooks } from "./pod-certificate-request.ts";
import { signingRequestHooks } from "./signing-request.ts";
import { trustBundleHooks } from "./trust-bundle.ts";

function printCondition(request: KubeObject): string {
  const states = [
    findCondition(request, "Denied") ? "Denied" : findCondition(request, "Approved") ? "Approved" : "Pending",
  ];
  if (findCondition(request, "Failed")) states.push("Failed");
  if (readText(request, ".status.certificate") !== "") states.push("Issued");
  return states.join(",");
}

function printRequestedDuration(request: KubeObject): string {
  const seconds = read(request, ".spec.expirationSeconds");
  return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
}

const ENDS = new Set(["Issued", "Denied", "Failed"]);

function printState(request: KubeObject): string {
  const types = readObjects(request, ".status.conditions").map((condition) => readText(condition, ".type"));
  return types.findLast((type) => ENDS.has(type)) ?? "Pending";
}

/** The kinds of certificates.k8s.io: CertificateSigningRequest, ClusterTrustBundle and PodCertificateRequest. */
export const certificatesKinds: ResourceDefinition[] = defineKinds(
  { group: "certificates.k8s.io", schemaPackage: "io.k8s.api.certificates" },
  [
    {
      kind: "CertificateSigningRequest",
      plural: "certificatesigningrequests",
      shortNames: ["csr"],
      scope: "Cluster",
      versions: ["v1"],
      subresources: {
        approval: { ...STATUS, resets: ["spec", "status.certificate"] },
        // Compat: `/status` resets `status.conditions` in managedFields, so a signer that sets the condition Failed
        // does not own it.
        status: { ...STATUS, resets: ["spec", "status.conditions"] },
      },
      columns: [
        NAME,
        AGE,
        column("SignerName", "string", text(".spec.signerName", "<none>")),
        column("Requestor", "string", text(".spec.username")),
        column("RequestedDuration", "string", printRequestedDuration),
        column("Condition", "string", printCondition),
      ],
      selectableFields: [selectable("spec.signerName")],
      rules: {
        nameRule: "pathSegment",
        resets: ["spec", "status"],
        unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
      },
      hooks: signingRequestHooks,
    },
    {
      kind: "ClusterTrustBundle",
      plural: "clustertrustbundles",
      scope: "Cluster",
      versions: [
        "v1",
        deprecatedVersion("v1beta1", "1.37", "1.40", "certificates.k8s.io/v1 ClusterTrustBundle"),
        deprecatedVersion("v1alpha1", "1.34", "1.37"),
      ],
      storage: { version: "v1beta1" },
      columns: [NAME, column("SignerName", "string", text(".spec.signerName", "<none>"))],
      selectableFields: [selectable("spec.signerName")],
      rules: { nameRule: "own", requiresResourceVersion: true, unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED },
      hooks: trustBundleHooks,
    },
    {
      kind: "PodCertificateRequest",
      plural: "podcertificaterequests",
      versions: ["v1", deprecatedVersion("v1beta1", "1.37", "1.40", "certificates.k8s.io/v1 PodCertificateRequest")],
      storage: { version: "v1beta1" },
      subresources: { status: STATUS },
      columns: [
        NAME,
        column("PodName", "string", text(".spec.podName")),
        column("ServiceAccountName", "string", text(".spec.serviceAccountName")),
        column("NodeName", "string", text(".spec.nodeName")),
        column("SignerName", "string", text(".spec.signerName")),
        column("State", "string", printState),
        column("UnverifiedUserAnnotations", "string", labels(".spec.unverifiedUserAnnotations")),
      ],
      selectableFields: [selectable("spec.signerName"), selectable("spec.podName"), selectable("spec.nodeName")],
      rules: {
        requiresResourceVersion: true,
        statusKeepsMetadata: true,
        unknownFieldMessage: FIELD_LABEL_NOT_SUPPORTED,
      },
      defaults: { "spec.maxExpirationSeconds": 86_400 },
      hooks: podCertificateRequestHooks,
    },
  ],
);
