import type { Authorizer } from "../../../base/api/attributes.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from "./certificates.ts";
import { defaultIngressClass, defaultStorageClass } from "./default-class.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { podGroupProtection, storageObjectInUseProtection } from "./in-use-protection.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeDeclaredFeatureValidator } from "./node-declared-feature-validator.ts";
import { nodeRestriction } from "./node-restriction/node-restriction.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize.ts";
import { podResizeValidator } from "./pod-resize-validator.ts";
import { podSecurity } from "./pod-security.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { priority } from "./priority.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";

/** What plugins need besides the request. */
export interface PluginContext {
  readonly resources: Resources;
  /** For additional authorization checks of plugins. */
  readonly authorizer: Authorizer;
  /** The policy and webhook plugins. If omitted, placeholders without effect, because another thread runs them. */
  readonly dynamic?: readonly AdmissionPlugin[];
}

/** The policy and webhook plugins, in order. */
const DYNAMIC: readonly string[] = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

const idle = (name: string): AdmissionPlugin => ({ name, handles: () => false });

/**
 * The admission plugins that are on by default, in the order in which they run; the order in flags does not matter.
 * Upstream: `AllOrderedPlugins`. Differs: NodeRestriction is not on by default there.
 */
export function defaultPlugins({ resources: { access }, authorizer, dynamic }: PluginContext): AdmissionPlugin[] {
  return [
    namespaceLifecycle(access),
    limitRanger(access),
    serviceAccount(access),
    nodeRestriction(access, authorizer),
    taintNodesByCondition,
    podSecurity(access),
    priority(access),
    defaultTolerationSeconds,
    defaultStorageClass(access),
    storageObjectInUseProtection,
    podGroupProtection,
    persistentVolumeClaimResize(access),
    runtimeClass(access),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    clusterTrustBundleAttest(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(access),
    podTopologyLabels(access),
    nodeDeclaredFeatureValidator(access),
    podResizeValidator(access),
    ...(dynamic ?? DYNAMIC.map(idle)),
    // Last, so that nothing is charged for a request that another plugin rejects.
    resourceQuota(access),
  ];
}
