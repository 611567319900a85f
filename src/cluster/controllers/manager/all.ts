import type { Controller, Named } from "../shared/controller.ts";
import type { Credentials } from "../shared/credentials.ts";
import type { ManagerContext } from "../shared/manager-context.ts";
import { bootstrapSigner } from "./bootstrap/bootstrap-signer.ts";
import { tokenCleaner } from "./bootstrap/token-cleaner.ts";
import { requestApproving } from "./certificates/certificatesigningrequest-approving.ts";
import { requestCleaner } from "./certificates/certificatesigningrequest-cleaner.ts";
import { requestSigning } from "./certificates/certificatesigningrequest-signing.ts";
import { trustBundlePublisher } from "./certificates/clustertrustbundle-publisher.ts";
import { podRequestCleaner } from "./certificates/podcertificaterequest-cleaner.ts";
import { clusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { cronJobs } from "./cronjob/cronjob.ts";
import { daemonSets } from "./daemonset/daemonset.ts";
import { deployments } from "./deployment/deployment.ts";
import { deviceTaintEviction } from "./device-taint-eviction/device-taint-eviction.ts";
import { disruption } from "./disruption/disruption.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { endpointSlices } from "./endpointslice/endpointslice.ts";
import { endpointSliceMirroring } from "./endpointslice-mirroring/endpointslice-mirroring.ts";
import { ephemeralVolumeClaims } from "./ephemeral-volume/ephemeral-volume.ts";
import { GarbageCollection } from "./garbage-collector/garbage-collection.ts";
import { horizontalPodAutoscalers } from "./horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts";
import { jobs } from "./job/job.ts";
import { legacyTokenCleaner } from "./legacy-serviceaccount-token-cleaner/legacy-serviceaccount-token-cleaner.ts";
import { NamespaceDeletion } from "./namespace/namespace-deletion.ts";
import { nodeIpam } from "./node-ipam/node-ipam.ts";
import { nodeLifecycle } from "./node-lifecycle/node-lifecycle.ts";
import { volumeBinder } from "./persistentvolume-binder/binder.ts";
import { volumeExpander } from "./persistentvolume-expander/expander.ts";
import { volumeProtection } from "./persistentvolume-protection/volume-protection.ts";
import { claimProtection } from "./persistentvolumeclaim-protection/claim-protection.ts";
import { podGarbageCollector } from "./pod-garbage-collector/pod-garbage-collector.ts";
import { podGroupProtection } from "./podgroup-protection/podgroup-protection.ts";
import { replicaSets, replicationControllers } from "./replicaset/replicaset.ts";
import { resourceQuotas } from "./resource-quota/resource-quota.ts";
import { resourceClaims } from "./resourceclaim/resourceclaim.ts";
import { rootCaPublisher } from "./root-ca-publisher.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { serviceCidrs } from "./service-cidr/service-cidr.ts";
import { serviceAccountTokens } from "./serviceaccount-token/serviceaccount-token.ts";
import { statefulSets } from "./statefulset/statefulset.ts";
import { storageVersionMigrator } from "./storage-version-migrator/storage-version-migrator.ts";
import { taintEviction } from "./taint-eviction/taint-eviction.ts";
import { ttl } from "./ttl/ttl.ts";
import { ttlAfterFinished } from "./ttl-after-finished/ttl-after-finished.ts";
import { policyStatus } from "./validating-admission-policy-status/policy-status.ts";
import { classProtection } from "./volumeattributesclass-protection/class-protection.ts";

/** A controller of kube-controller-manager that can run inside this server. */
export interface RunnableController extends Named {
  /** Names in `--controllers`. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Name of the service account that it acts as. Absent: it acts as `system:kube-controller-manager`. */
  readonly account?: string;
  make(context: ManagerContext, credentials: Credentials): Controller;
}

/** The controllers that `--controllers` selects from. */
export const RUNNABLE_CONTROLLERS: readonly RunnableController[] = [
  {
    name: "garbage-collector-controller",
    aliases: ["garbagecollector"],
    account: "generic-garbage-collector",
    make: (context) => new GarbageCollection(context),
  },
  {
    name: "namespace-controller",
    aliases: ["namespace"],
    account: "namespace-controller",
    make: (context) => new NamespaceDeletion(context),
  },
  {
    name: "serviceaccount-controller",
    aliases: ["serviceaccount"],
    account: "service-account-controller",
    make: serviceAccounts,
  },
  {
    name: "serviceaccount-token-controller",
    aliases: ["serviceaccount-token"],
    make: serviceAccountTokens,
  },
  {
    name: "certificatesigningrequest-approving-controller",
    aliases: ["csrapproving"],
    account: "certificate-controller",
    make: requestApproving,
  },
  {
    name: "certificatesigningrequest-signing-controller",
    aliases: ["csrsigning"],
    account: "certificate-controller",
    make: requestSigning,
  },
  {
    name: "certificatesigningrequest-cleaner-controller",
    aliases: ["csrcleaner"],
    account: "certificate-controller",
    make: requestCleaner,
  },
  {
    name: "podcertificaterequest-cleaner-controller",
    aliases: [],
    account: "podcertificaterequestcleaner",
    make: podRequestCleaner,
  },
  {
    name: "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    aliases: [],
    account: "kube-apiserver-serving-clustertrustbundle-publisher",
    make: trustBundlePublisher,
  },
  {
    name: "root-ca-certificate-publisher-controller",
    aliases: ["root-ca-cert-publisher"],
    account: "root-ca-cert-publisher",
    make: rootCaPublisher,
  },
  {
    name: "clusterrole-aggregation-controller",
    aliases: ["clusterrole-aggregation"],
    account: "clusterrole-aggregation-controller",
    make: clusterRoleAggregation,
  },
  {
    name: "validatingadmissionpolicy-status-controller",
    aliases: ["validatingadmissionpolicy-status"],
    account: "validatingadmissionpolicy-status-controller",
    make: policyStatus,
  },
  {
    name: "resourcequota-controller",
    aliases: ["resourcequota"],
    account: "resourcequota-controller",
    make: resourceQuotas,
  },
  {
    name: "legacy-serviceaccount-token-cleaner-controller",
    aliases: ["legacy-service-account-token-cleaner"],
    account: "legacy-service-account-token-cleaner",
    make: legacyTokenCleaner,
  },
  { name: "service-cidr-controller", aliases: [], account: "service-cidrs-controller", make: serviceCidrs },
  {
    name: "token-cleaner-controller",
    aliases: ["tokencleaner"],
    account: "token-cleaner",
    isOptional: true,
    make: tokenCleaner,
  },
  {
    name: "bootstrap-signer-controller",
    aliases: ["bootstrapsigner"],
    account: "bootstrap-signer",
    isOptional: true,
    make: bootstrapSigner,
  },
  {
    name: "storage-version-migrator-controller",
    aliases: ["svm"],
    account: "storage-version-migrator-controller",
    make: storageVersionMigrator,
  },
  { name: "deployment-controller", aliases: ["deployment"], account: "deployment-controller", make: deployments },
  { name: "replicaset-controller", aliases: ["replicaset"], account: "replicaset-controller", make: replicaSets },
  {
    name: "replicationcontroller-controller",
    aliases: ["replicationcontroller"],
    account: "replication-controller",
    make: replicationControllers,
  },
  { name: "statefulset-controller", aliases: ["statefulset"], account: "statefulset-controller", make: statefulSets },
  { name: "job-controller", aliases: ["job"], account: "job-controller", make: jobs },
  { name: "cronjob-controller", aliases: ["cronjob"], account: "cronjob-controller", make: cronJobs },
  {
    name: "ttl-after-finished-controller",
    aliases: ["ttl-after-finished"],
    account: "ttl-after-finished-controller",
    make: ttlAfterFinished,
  },
  { name: "daemonset-controller", aliases: ["daemonset"], account: "daemon-set-controller", make: daemonSets },
  { name: "disruption-controller", aliases: ["disruption"], account: "disruption-controller", make: disruption },
  { name: "endpoints-controller", aliases: ["endpoint"], account: "endpoint-controller", make: endpoints },
  {
    name: "endpointslice-controller",
    aliases: ["endpointslice"],
    account: "endpointslice-controller",
    make: endpointSlices,
  },
  {
    name: "endpointslice-mirroring-controller",
    aliases: ["endpointslicemirroring"],
    account: "endpointslicemirroring-controller",
    make: endpointSliceMirroring,
  },
  { name: "node-lifecycle-controller", aliases: ["nodelifecycle"], account: "node-controller", make: nodeLifecycle },
  { name: "taint-eviction-controller", aliases: [], account: "node-controller", make: taintEviction },
  {
    name: "pod-garbage-collector-controller",
    aliases: ["podgc"],
    account: "pod-garbage-collector",
    make: (context) => podGarbageCollector(context),
  },
  { name: "node-ipam-controller", aliases: ["nodeipam"], account: "node-controller", make: nodeIpam },
  { name: "ttl-controller", aliases: ["ttl"], account: "ttl-controller", make: ttl },
  {
    name: "resourceclaim-controller",
    aliases: ["resource-claim-controller"],
    account: "resource-claim-controller",
    make: resourceClaims,
  },
  {
    name: "device-taint-eviction-controller",
    aliases: [],
    account: "device-taint-eviction-controller",
    make: deviceTaintEviction,
  },
  {
    name: "podgroup-protection-controller",
    aliases: [],
    account: "podgroup-protection-controller",
    make: podGroupProtection,
  },
  {
    name: "persistentvolumeclaim-protection-controller",
    aliases: ["pvc-protection"],
    account: "pvc-protection-controller",
    make: claimProtection,
  },
  {
    name: "persistentvolume-protection-controller",
    aliases: ["pv-protection"],
    account: "pv-protection-controller",
    make: volumeProtection,
  },
  {
    name: "persistentvolume-binder-controller",
    aliases: ["persistentvolume-binder"],
    account: "persistent-volume-binder",
    make: volumeBinder,
  },
  {
    name: "ephemeral-volume-controller",
    aliases: ["ephemeral-volume"],
    account: "ephemeral-volume-controller",
    make: ephemeralVolumeClaims,
  },
  {
    name: "persistentvolume-expander-controller",
    aliases: ["persistentvolume-expander"],
    account: "expand-controller",
    make: volumeExpander,
  },
  {
    name: "volumeattributesclass-protection-controller",
    aliases: [],
    account: "volumeattributesclass-protection-controller",
    make: classProtection,
  },
  {
    name: "horizontal-pod-autoscaler-controller",
    aliases: ["horizontalpodautoscaling"],
    account: "horizontal-pod-autoscaler",
    make: horizontalPodAutoscalers,
  },
];
