import type { KubeObject } from "../../../src/base/api/object.ts";
import { RUNNABLE_CONTROLLERS } from "../../../src/cluster/controllers/manager/all.ts";
import { AUTOSCALERS } from "./autoscalers.ts";
import type { Collection } from "./cluster-view.ts";
import { CRON_JOBS } from "./cron-jobs.ts";
import { DAEMON_SETS } from "./daemon-sets.ts";
import { DEPLOYMENTS } from "./deployments.ts";
import { DISRUPTION_BUDGETS } from "./disruption-budgets.ts";
import { JOBS } from "./jobs.ts";
import { NODES } from "./nodes.ts";
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from "./replica-kinds.ts";
import { SERVICES } from "./services.ts";
import { STATEFUL_SETS } from "./stateful-sets.ts";
import type { WorkloadKind } from "./steps.ts";
import { ATTRIBUTES_CLASSES } from "./volume-attributes.ts";
import { CLAIMS } from "./volume-claims.ts";
import { VOLUMES } from "./volumes.ts";

/** The kinds that sequences can create. To add a kind, add its table here. */
export const KINDS = [
  ...[DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS],
  ...[STATEFUL_SETS, DAEMON_SETS, JOBS, CRON_JOBS, NODES],
  ...[CLAIMS, VOLUMES, ATTRIBUTES_CLASSES],
  ...[SERVICES, DISRUPTION_BUDGETS, AUTOSCALERS],
] as unknown as readonly WorkloadKind<KubeObject>[];

const runnable = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));

/** Whether Binnacle has a controller. The others run in the real program in both clusters. */
export const isRunnable = (name: string): boolean => runnable.has(name);

/** The kinds whose controllers Binnacle has. */
export const COMPARED_KINDS = KINDS.filter(({ controllers }) => controllers.every(isRunnable));

/** Further collections that sequences change or compare. */
export const OTHER_COLLECTIONS: readonly Collection[] = [
  { kind: "Pod", root: "/api/v1", plural: "pods" },
  { kind: "Event", root: "/api/v1", plural: "events" },
  { kind: "ResourceQuota", root: "/api/v1", plural: "resourcequotas" },
  { kind: "ControllerRevision", root: "/apis/apps/v1", plural: "controllerrevisions" },
  { kind: "Endpoints", root: "/api/v1", plural: "endpoints" },
  { kind: "EndpointSlice", root: "/apis/discovery.k8s.io/v1", plural: "endpointslices" },
];

/** Kinds of objects that are compared one by one. */
export const NAMED_KINDS: readonly string[] = [
  ...KINDS.map(({ collection }) => collection.kind),
  ...["ResourceQuota", "ControllerRevision", "Endpoints"],
];

/** Kinds of objects with random names. Those with the same content are interchangeable. */
export const UNNAMED_KINDS: readonly string[] = ["EndpointSlice"];
