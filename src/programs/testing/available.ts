import { createHash } from "node:crypto";
import { groupOf, isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { printTime } from "../../resources/write/metadata.ts";

/** An object, with empty members instead of missing ones, and the time. */
interface Current {
  readonly metadata: KubeObject["metadata"];
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly now: string;
}

/**
 * The status of an available object, as the controllers of a cluster write it. `null` removes a field. Throws if
 * this file does not know the kind.
 */
export function availableStatus(object: KubeObject, nowMs: number): JsonObject {
  const { apiVersion, kind, metadata, spec, status } = object;
  const statusOf = AVAILABLE.get([kind, groupOf(apiVersion)].join("."));
  if (statusOf) return statusOf({ metadata, spec: members(spec), status: members(status), now: printTime(nowMs) });
  throw new Error(`makeAvailable() does not know when a ${kind} is available: use setStatus()`);
}

/** By kind and group. */
const AVAILABLE: ReadonlyMap<string, (current: Current) => JsonObject> = new Map([
  ["Deployment.apps", deployment],
  ["ReplicaSet.apps", replicas],
  ["ReplicationController.", replicas],
  ["StatefulSet.apps", statefulSet],
  ["DaemonSet.apps", daemonSet],
  ["Job.batch", job],
  ["Pod.", pod],
  ["Node.", node],
  ["PersistentVolumeClaim.", claim],
  ["Service.", ({ spec, status }) => (spec.type === "LoadBalancer" ? loadBalancer(ipMode) : status)],
  ["Ingress.networking.k8s.io", () => loadBalancer({})],
]);

const members = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
/** Compat: counts are `omitempty`, so that 0 is not written. */
const count = (value: number): number | null => value || null;

// Upstream: `calculateStatus` and `syncRolloutStatus` of the deployment controller, without ReplicaSets.
function deployment(current: Current): JsonObject {
  const { metadata, spec, now } = current;
  const all = count(Number(spec.replicas ?? 1));
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ replicas: all, updatedReplicas: all, readyReplicas: all, availableReplicas: all, unavailableReplicas: null },
    conditions: conditions(
      current,
      [
        ["Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."],
        ["Progressing", "True", "NewReplicaSetAvailable", `Deployment "${metadata.name}" has successfully progressed.`],
      ],
      { lastUpdateTime: now },
    ),
  };
}

// Upstream: `calculateStatus` of the replica set controller.
function replicas({ metadata, spec }: Current): JsonObject {
  const wanted = Number(spec.replicas ?? 1);
  const all = count(wanted);
  return {
    observedGeneration: metadata.generation ?? 1,
    replicas: wanted,
    ...{ fullyLabeledReplicas: all, readyReplicas: all, availableReplicas: all },
  };
}

// Upstream: `updateStatus` of the stateful set controller. There are no revisions without its ControllerRevisions.
function statefulSet({ metadata, spec, status }: Current): JsonObject {
  const wanted = Number(spec.replicas ?? 1);
  const all = count(wanted);
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ replicas: wanted, availableReplicas: wanted },
    ...{ readyReplicas: all, currentReplicas: all, updatedReplicas: all },
    ...(status.updateRevision === undefined ? {} : { currentRevision: status.updateRevision }),
  };
}

// Upstream: `storeDaemonSetStatus`. If no nodes were counted before: one.
function daemonSet({ metadata, status }: Current): JsonObject {
  const nodes = Number(status.desiredNumberScheduled ?? 0) || 1;
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ desiredNumberScheduled: nodes, currentNumberScheduled: nodes, updatedNumberScheduled: nodes },
    ...{ numberReady: nodes, numberAvailable: nodes, numberUnavailable: null, numberMisscheduled: 0 },
  };
}

// Upstream: `enactJobFinished` and `newSuccessCondition` of the job controller.
function job(current: Current): JsonObject {
  const { spec, status, now } = current;
  const reached = ["CompletionsReached", "Reached expected number of succeeded pods"] as const;
  return {
    startTime: status.startTime ?? now,
    completionTime: now,
    succeeded: count(Number(spec.completions ?? spec.parallelism ?? 1)),
    ...{ active: null, ready: 0, terminating: 0, uncountedTerminatedPods: {} },
    conditions: conditions(
      current,
      [
        ["SuccessCriteriaMet", "True", ...reached],
        ["Complete", "True", ...reached],
      ],
      { lastProbeTime: now },
    ),
  };
}

// Upstream: `generateAPIPodStatus` of the kubelet.
function pod(current: Current): JsonObject {
  const { metadata, spec, status, now } = current;
  const podIP = status.podIP ?? addressOf(metadata.uid ?? "");
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    phase: "Running",
    startTime: status.startTime ?? now,
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: conditions(
      current,
      types.map((type) => [type, "True"]),
      { lastProbeTime: null },
    ),
    containerStatuses: list(spec.containers).map(({ name, image }) => ({
      ...{ name: name ?? "", image: image ?? "", imageID: "", ready: true, started: true, restartCount: 0 },
      state: { running: { startedAt: now } },
    })),
  };
}

/** An address that is the same for the same Pod, and different for most others. */
function addressOf(uid: string): string {
  const [third = 0, fourth = 0] = createHash("sha256").update(uid).digest();
  return `10.244.${third}.${1 + (fourth % 254)}`;
}

// Upstream: the setters of `pkg/kubelet/nodestatus`.
function node(current: Current): JsonObject {
  const { status, now } = current;
  const size = { cpu: "4", memory: "8Gi", pods: "110" };
  return {
    capacity: status.capacity ?? size,
    allocatable: status.allocatable ?? status.capacity ?? size,
    conditions: conditions(
      current,
      [
        ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
        ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
        ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
        ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
      ],
      { lastHeartbeatTime: now },
    ),
  };
}

// Upstream: `updateClaimStatus` of the persistent volume controller.
function claim({ spec }: Current): JsonObject {
  const { storage } = members(members(spec.resources).requests);
  const capacity = storage === undefined ? {} : { capacity: { storage } };
  return { phase: "Bound", accessModes: spec.accessModes ?? [], ...capacity };
}

const ipMode = { ipMode: "VIP" };

/** An address of TEST-NET-1, which is for documentation. */
function loadBalancer(further: JsonObject): JsonObject {
  return { loadBalancer: { ingress: [{ ip: "192.0.2.1", ...further }] } };
}

/**
 * The conditions of an object with some of them replaced. Others are kept. lastTransitionTime only changes together with
 * the status.
 */
function conditions(
  { status, now }: Current,
  wanted: readonly (readonly [type: string, status: string, reason?: string, message?: string])[],
  further: JsonObject,
): JsonObject[] {
  const before = list(status.conditions);
  const others = before.filter(({ type }) => !wanted.some(([name]) => name === type));
  const replaced = wanted.map(([type, state, reason, message]) => {
    const known = before.find((one) => one.type === type);
    const lastTransitionTime = known?.status === state ? (known.lastTransitionTime ?? now) : now;
    return {
      ...{ type, status: state, ...further, lastTransitionTime },
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    };
  });
  return [...others, ...replaced];
}
