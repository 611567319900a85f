/** A loop of kube-controller-manager 1.37. */
export interface ManagerController {
  /** As its `--controllers` lists it. */
  readonly name: string;
  /** What happens as long as it runs. */
  readonly does: string;
  /** What a user notices first where it does not run. Absent: most never notice. */
  readonly without?: string;
}

const row = (name: string, does: string, without?: string): ManagerController => ({
  name: `${name}-controller`,
  does,
  ...(without !== undefined && { without }),
});

/** Every loop that kube-controller-manager can run. Which of them run inside of this server, `server/manager-loops.ts` says. */
export const MANAGER_CONTROLLERS: readonly ManagerController[] = [
  row("bootstrap-signer", "signs the ConfigMap cluster-info with bootstrap tokens"),
  row("certificatesigningrequest-approving", "approves what kubelets ask for"),
  row("certificatesigningrequest-cleaner", "deletes old CertificateSigningRequests"),
  row(
    "certificatesigningrequest-signing",
    "issues certificates that were approved",
    "approved CertificateSigningRequests get no certificate",
  ),
  row(
    "clusterrole-aggregation",
    "fills in the rules of aggregated ClusterRoles",
    "aggregated ClusterRoles get no rules",
  ),
  row("cronjob", "makes Jobs of CronJobs when it is time", "CronJobs make no Jobs"),
  row("daemonset", "makes Pods of DaemonSets", "DaemonSets make no Pods"),
  row("deployment", "makes and scales ReplicaSets of Deployments", "Deployments make no ReplicaSets"),
  row("device-taint-eviction", "evicts Pods from tainted devices"),
  row("disruption", "counts what PodDisruptionBudgets allow", "PodDisruptionBudgets have no status"),
  row("endpoints", "makes Endpoints of Services"),
  row("endpointslice", "makes EndpointSlices of Services", "Services with selectors get no EndpointSlices"),
  row("endpointslice-mirroring", "copies hand-made Endpoints into EndpointSlices"),
  row("ephemeral-volume", "makes claims for ephemeral volumes of Pods"),
  row("garbage-collector", "deletes what owners leave behind", "objects outlive their owners"),
  row("horizontal-pod-autoscaler", "scales by metrics", "HorizontalPodAutoscalers scale nothing"),
  row("job", "makes Pods of Jobs", "Jobs make no Pods"),
  row(
    "kube-apiserver-serving-clustertrustbundle-publisher",
    "publishes the API server's authority as a ClusterTrustBundle",
  ),
  row("legacy-serviceaccount-token-cleaner", "deletes unused tokens in Secrets"),
  row("namespace", "empties and deletes Namespaces", "deleted Namespaces stay Terminating"),
  row("node-ipam", "gives Nodes ranges of addresses"),
  row("node-lifecycle", "taints Nodes that no longer answer", "Nodes that no longer answer stay as they are"),
  row("persistentvolume-attach-detach", "attaches volumes to Nodes"),
  row("persistentvolume-binder", "binds claims to volumes", "PersistentVolumeClaims stay Pending"),
  row("persistentvolume-expander", "makes volumes larger"),
  row(
    "persistentvolume-protection",
    "lets go of volumes that nobody uses",
    "deleted PersistentVolumes keep their finalizer",
  ),
  row(
    "persistentvolumeclaim-protection",
    "lets go of claims that no Pod uses",
    "deleted PersistentVolumeClaims keep their finalizer",
  ),
  row("pod-garbage-collector", "deletes Pods of Nodes that are gone"),
  row("podcertificaterequest-cleaner", "deletes old PodCertificateRequests"),
  row("podgroup-protection", "lets go of PodGroups that no Pod uses"),
  row("replicaset", "makes Pods of ReplicaSets", "ReplicaSets make no Pods"),
  row("replicationcontroller", "makes Pods of ReplicationControllers"),
  row("resourceclaim", "makes ResourceClaims of templates"),
  row("resourcepoolstatusrequest", "answers ResourcePoolStatusRequests"),
  row(
    "resourcequota",
    "counts what ResourceQuotas limit",
    "the usage of ResourceQuotas stays empty, and so they limit nothing",
  ),
  row(
    "root-ca-certificate-publisher",
    "puts the ConfigMap kube-root-ca.crt into every Namespace",
    "no ConfigMap kube-root-ca.crt in Namespaces",
  ),
  row("selinux-warning", "warns of Pods whose SELinux labels conflict"),
  row("service-cidr", "lets go of ServiceCIDRs that nobody uses"),
  row(
    "serviceaccount",
    "puts the ServiceAccount default into every Namespace",
    "no ServiceAccount default in Namespaces, so that Pods are refused",
  ),
  row(
    "serviceaccount-token",
    "fills in Secrets of type service-account-token",
    "Secrets of type service-account-token get no token",
  ),
  row("statefulset", "makes Pods and claims of StatefulSets", "StatefulSets make no Pods"),
  row("storage-version-migrator", "rewrites objects in their stored version"),
  row("storageversion-garbage-collector", "deletes old StorageVersions"),
  row("taint-eviction", "evicts Pods from tainted Nodes"),
  row("token-cleaner", "deletes bootstrap tokens that have expired"),
  row("ttl-after-finished", "deletes Jobs some time after their end"),
  row("ttl", "tells kubelets how long to keep Secrets"),
  row(
    "validatingadmissionpolicy-status",
    "checks the expressions of policies",
    "policies have no warnings in their status",
  ),
  row("volumeattributesclass-protection", "lets go of VolumeAttributesClasses that nobody uses"),
];
