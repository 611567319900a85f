import type { KubeObject } from "../../../src/base/api/object.ts";
import type { Collection } from "./cluster-view.ts";
import { DEPLOYMENTS } from "./deployments.ts";
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from "./replica-kinds.ts";
import type { WorkloadKind } from "./steps.ts";

/** The kinds that sequences create. To add a kind, add its table here. */
export const KINDS = [
  DEPLOYMENTS,
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
] as unknown as readonly WorkloadKind<KubeObject>[];

/** Further collections that sequences change or compare. */
export const OTHER_COLLECTIONS: readonly Collection[] = [
  { kind: "Pod", root: "/api/v1", plural: "pods" },
  { kind: "Event", root: "/api/v1", plural: "events" },
  { kind: "ResourceQuota", root: "/api/v1", plural: "resourcequotas" },
];

/** Kinds of objects that are compared one by one. */
export const NAMED_KINDS: readonly string[] = [...KINDS.map(({ collection }) => collection.kind), "ResourceQuota"];
