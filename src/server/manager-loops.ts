import { clusterRoleAggregation } from "../controllers/cluster-role-aggregation.ts";
import type { Controller, ControllerContext } from "../controllers/controller.ts";
import { GarbageCollection } from "../controllers/garbage-collection.ts";
import { NamespaceDeletion } from "../controllers/namespace-deletion.ts";
import { policyStatus } from "../controllers/policies/policy-status.ts";
import { rootCaPublisher } from "../controllers/root-ca-publisher.ts";
import { serviceAccounts } from "../controllers/service-accounts.ts";

/** A loop of kube-controller-manager that can run inside of this server. */
export interface ManagerLoop {
  /** As `--controllers` knows it. */
  readonly name: string;
  /** The service account that it acts as. */
  readonly account: string;
  make(context: ControllerContext, authority: string): Controller;
}

/** What `--controllers` picks among. */
export const MANAGER_LOOPS: readonly ManagerLoop[] = [
  {
    name: "garbage-collector-controller",
    account: "generic-garbage-collector",
    make: (context) => new GarbageCollection(context),
  },
  { name: "namespace-controller", account: "namespace-controller", make: (context) => new NamespaceDeletion(context) },
  { name: "serviceaccount-controller", account: "service-account-controller", make: serviceAccounts },
  { name: "root-ca-certificate-publisher-controller", account: "root-ca-cert-publisher", make: rootCaPublisher },
  {
    name: "clusterrole-aggregation-controller",
    account: "clusterrole-aggregation-controller",
    make: clusterRoleAggregation,
  },
  {
    name: "validatingadmissionpolicy-status-controller",
    account: "validatingadmissionpolicy-status-controller",
    make: policyStatus,
  },
];
