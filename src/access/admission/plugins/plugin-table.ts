/** Name and description of an admission plugin, for listings. */
export interface PluginRow {
  readonly name: string;
  /** What it does with writes. */
  readonly does: string;
}

const row = (name: string, does: string): PluginRow => ({ name, does });

/** The plugins of `defaultPlugins`, in the same order. */
export const PLUGIN_TABLE: readonly PluginRow[] = [
  row("NamespaceLifecycle", "rejects new objects in Namespaces that do not exist or are terminating"),
  row("LimitRanger", "sets default requests and limits of containers, and enforces the LimitRanges of the Namespace"),
  row("ServiceAccount", "gives every Pod a ServiceAccount, and mounts its token"),
  row("NodeRestriction", "lets a kubelet change only its own Node and the Pods that are bound to it"),
  row("TaintNodesByCondition", "gives a new Node the taint node.kubernetes.io/not-ready"),
  row("PodSecurity", "enforces, audits and warns about the Pod Security Standards set by labels of the Namespace"),
  row("Priority", "resolves priorityClassName to a number, and allows only one PriorityClass with globalDefault"),
  row("DefaultTolerationSeconds", "adds tolerations of not-ready and unreachable Nodes for 300 seconds"),
  row("DefaultStorageClass", "gives PersistentVolumeClaims without a class the default StorageClass"),
  row("StorageObjectInUseProtection", "adds finalizers that protect volumes and claims in use"),
  row("PodGroupProtection", "adds a finalizer that protects PodGroups in use"),
  row("PersistentVolumeClaimResize", "lets a claim grow only if its StorageClass allows volume expansion"),
  row("RuntimeClass", "gives Pods the overhead, node selector and tolerations of their RuntimeClass"),
  row("CertificateApproval", "requires the right to approve for the signer of a CertificateSigningRequest"),
  row("CertificateSigning", "requires the right to sign for the signer of a CertificateSigningRequest"),
  row("ClusterTrustBundleAttest", "requires the right to attest for the signer of a ClusterTrustBundle"),
  row("CertificateSubjectRestriction", "rejects requests for client certificates of the group system:masters"),
  row("DefaultIngressClass", "gives Ingresses without a class the default IngressClass"),
  row("PodTopologyLabels", "copies the topology labels of the Node to a Pod that is bound to it"),
  row("NodeDeclaredFeatureValidator", "rejects changes of Pods that need features their Node does not declare"),
  row("PodResizeValidator", "rejects resizing a Pod beyond the allocatable resources of its Node"),
  row("MutatingAdmissionPolicy", "applies MutatingAdmissionPolicies"),
  row("MutatingAdmissionWebhook", "calls mutating webhooks"),
  row("ValidatingAdmissionPolicy", "enforces ValidatingAdmissionPolicies"),
  row("ValidatingAdmissionWebhook", "calls validating webhooks"),
  row("ResourceQuota", "rejects writes that would exceed a ResourceQuota; needs the resourcequota-controller"),
];

/** Admission plugins of kube-apiserver that are not implemented here. */
export const UNAVAILABLE_PLUGINS: readonly string[] = [
  "AlwaysAdmit",
  "AlwaysDeny",
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "EventRateLimit",
  "ExtendedResourceToleration",
  "ImagePolicyWebhook",
  "LimitPodHardAntiAffinityTopology",
  "NamespaceAutoProvision",
  "NamespaceExists",
  "OwnerReferencesPermissionEnforcement",
  "PodNodeSelector",
  "PodTolerationRestriction",
];
