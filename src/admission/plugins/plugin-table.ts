/** An admission plugin of kube-apiserver, for those who only want to know. */
export interface PluginRow {
  readonly name: string;
  /** What happens to writes while it is on. */
  readonly does: string;
}

const row = (name: string, does: string): PluginRow => ({ name, does });

/** What `defaultPlugins` has, in its order. */
export const PLUGIN_TABLE: readonly PluginRow[] = [
  row("NamespaceLifecycle", "refuses objects in Namespaces that do not exist or are terminating"),
  row("LimitRanger", "fills in requests and limits of containers, and holds them to the LimitRanges of the Namespace"),
  row("ServiceAccount", "gives every Pod a ServiceAccount, and mounts its token"),
  row("NodeRestriction", "lets a kubelet change only its own Node and the Pods that are bound to it"),
  row("TaintNodesByCondition", "gives a new Node the taint node.kubernetes.io/not-ready"),
  row("PodSecurity", "enforces, audits and warns of the Pod Security Standards that labels of the Namespace name"),
  row("Priority", "makes a number of priorityClassName, and allows one PriorityClass with globalDefault"),
  row("DefaultTolerationSeconds", "lets Pods tolerate Nodes that are not ready or unreachable for 300 seconds"),
  row("DefaultStorageClass", "gives PersistentVolumeClaims without a class the default StorageClass"),
  row("StorageObjectInUseProtection", "adds the finalizers that keep volumes and claims in use"),
  row("PodGroupProtection", "adds the finalizer that keeps PodGroups in use"),
  row("PersistentVolumeClaimResize", "lets a claim grow only if its StorageClass allows volume expansion"),
  row("RuntimeClass", "gives Pods the overhead, node selector and tolerations of their RuntimeClass"),
  row("CertificateApproval", "asks whether the caller may approve for the signer of a CertificateSigningRequest"),
  row("CertificateSigning", "asks whether the caller may sign for the signer of a CertificateSigningRequest"),
  row("ClusterTrustBundleAttest", "asks whether the caller may attest for the signer of a ClusterTrustBundle"),
  row("CertificateSubjectRestriction", "refuses requests for client certificates of the group system:masters"),
  row("DefaultIngressClass", "gives Ingresses without a class the default IngressClass"),
  row("PodTopologyLabels", "copies the topology labels of the Node to a Pod that is bound to it"),
  row("NodeDeclaredFeatureValidator", "refuses changes of Pods that need features which their Node does not declare"),
  row("PodResizeValidator", "refuses to resize a Pod beyond what its Node has allocatable"),
  row("MutatingAdmissionPolicy", "changes writes as MutatingAdmissionPolicies say"),
  row("MutatingAdmissionWebhook", "changes writes as webhooks answer"),
  row("ValidatingAdmissionPolicy", "refuses, warns of and audits writes as ValidatingAdmissionPolicies say"),
  row("ValidatingAdmissionWebhook", "refuses writes as webhooks answer"),
  row("ResourceQuota", "refuses what would exceed a ResourceQuota of the Namespace"),
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
