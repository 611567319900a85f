/** A controller of kube-controller-manager 1.37. */
export interface ManagerController {
  /** Name in its `--controllers`. */
  readonly name: string;
  /** What it does. */
  readonly does: string;
  /** What users notice if it does not run. Absent if most users never notice. */
  readonly without?: string;
}

const row = (name: string, does: string, without?: string): ManagerController => ({
  name: `${name}-controller`,
  does,
  ...(without !== undefined && { without }),
});

/**
 * Every controller of kube-controller-manager. `cluster/controllers/manager/all.ts` lists those that can run inside
 * this server.
 */
export const MANAGER_CONTROLLERS: readonly ManagerController[] = [
  row("bootstrap-signer", "signs the ConfigMap cluster-info with bootstrap tokens"),
  row("certificatesigningrequest-approving", "approves CertificateSigningRequests of kubelets"),
  row("certificatesigningrequest-cleaner", "deletes old CertificateSigningRequests"),
  row(
    "certificatesigningrequest-signing",
    "signs approved CertificateSigningRequests",
    "approved CertificateSigningRequests get no certificate",
  ),
  row("clusterrole-aggregation", "sets the rules of aggregated ClusterRoles", "aggregated ClusterRoles get no rules"),
  row("cronjob", "creates Jobs for CronJobs on schedule", "CronJobs create no Jobs"),
  row("daemonset", "creates Pods for DaemonSets", "DaemonSets create no Pods"),
  row("deployment", "creates and scales ReplicaSets for Deployments", "Deployments create no ReplicaSets"),
  row("device-taint-eviction", "evicts Pods from tainted devices"),
  row("disruption", "computes the allowed disruptions of PodDisruptionBudgets", "PodDisruptionBudgets have no status"),
  row("endpoints", "creates Endpoints for Services"),
  row("endpointslice", "creates EndpointSlices for Services", "Services with selectors get no EndpointSlices"),
  row("endpointslice-mirroring", "copies custom Endpoints to EndpointSlices"),
  row("ephemeral-volume", "creates PersistentVolumeClaims for ephemeral volumes of Pods"),
  row("garbage-collector", "deletes objects whose owners are gone", "objects outlive their owners"),
  row("horizontal-pod-autoscaler", "scales workloads by metrics", "HorizontalPodAutoscalers scale nothing"),
  row("job", "creates Pods for Jobs", "Jobs create no Pods"),
  row("kube-apiserver-serving-clustertrustbundle-publisher", "publishes the API server's CA as a ClusterTrustBundle"),
  row("legacy-serviceaccount-token-cleaner", "deletes unused tokens in Secrets"),
  row("namespace", "empties and deletes Namespaces", "deleted Namespaces stay Terminating"),
  row("node-ipam", "assigns pod CIDRs to Nodes, if --cluster-cidr is set"),
  row("node-lifecycle", "taints unreachable Nodes", "unreachable Nodes are not tainted"),
  row("persistentvolume-attach-detach", "attaches volumes to Nodes"),
  row("persistentvolume-binder", "binds claims to volumes", "PersistentVolumeClaims stay Pending"),
  row("persistentvolume-expander", "expands volumes"),
  row(
    "persistentvolume-protection",
    "removes the protection finalizer of unused volumes",
    "deleted PersistentVolumes keep their finalizer",
  ),
  row(
    "persistentvolumeclaim-protection",
    "removes the protection finalizer of unused claims",
    "deleted PersistentVolumeClaims keep their finalizer",
  ),
  row("pod-garbage-collector", "deletes Pods of Nodes that are gone"),
  row("podcertificaterequest-cleaner", "deletes old PodCertificateRequests"),
  row("podgroup-protection", "removes the protection finalizer of unused PodGroups"),
  row("replicaset", "creates Pods for ReplicaSets", "ReplicaSets create no Pods"),
  row("replicationcontroller", "creates Pods for ReplicationControllers"),
  row("resourceclaim", "creates ResourceClaims from templates"),
  row("resourcepoolstatusrequest", "answers ResourcePoolStatusRequests"),
  row("resourcequota", "computes the usage of ResourceQuotas", "ResourceQuotas are not enforced"),
  row(
    "root-ca-certificate-publisher",
    "creates the ConfigMap kube-root-ca.crt in every Namespace",
    "no ConfigMap kube-root-ca.crt in Namespaces",
  ),
  row("selinux-warning", "warns about Pods with conflicting SELinux labels"),
  row("service-cidr", "removes the finalizer of unused ServiceCIDRs"),
  row(
    "serviceaccount",
    "creates the ServiceAccount default in every Namespace",
    "no ServiceAccount default in Namespaces, so Pods are rejected",
  ),
  row(
    "serviceaccount-token",
    "sets the token of Secrets of type service-account-token",
    "Secrets of type service-account-token get no token",
  ),
  row("statefulset", "creates Pods and claims for StatefulSets", "StatefulSets create no Pods"),
  row("storage-version-migrator", "rewrites objects in their stored version"),
  row("storageversion-garbage-collector", "deletes old StorageVersions"),
  row("taint-eviction", "evicts Pods from tainted Nodes"),
  row("token-cleaner", "deletes expired bootstrap tokens"),
  row("ttl-after-finished", "deletes finished Jobs after their TTL"),
  row("ttl", "sets the TTL annotation of Nodes, for how long kubelets cache Secrets"),
  row(
    "validatingadmissionpolicy-status",
    "type-checks the expressions of ValidatingAdmissionPolicies",
    "ValidatingAdmissionPolicies have no warnings in their status",
  ),
  row("volumeattributesclass-protection", "removes the protection finalizer of unused VolumeAttributesClasses"),
];
