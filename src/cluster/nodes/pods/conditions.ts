import { quote } from "../../../base/go/quote.ts";
import { getMember } from "../../../base/util/members.ts";
import type { ContainerStatus, PodCondition } from "../../../kinds/types/pod-status.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { hasStarted, isInitialized, type PodContainer } from "./containers.ts";
import { RESTARTING_CONDITION } from "./restart-all.ts";

/** What the conditions of a Pod follow from. */
export interface ConditionInput {
  readonly pod: Pod;
  readonly containers: readonly PodContainer[];
  readonly statuses: ReadonlyMap<string, ContainerStatus>;
  readonly phase: string;
  /** The Pod has its network. */
  readonly hasSandbox: boolean;
  readonly now: string;
  /** A resize that cannot be done now. */
  readonly resizePending?: { readonly reason: string; readonly message: string };
  /** All containers are being restarted. Undefined if that cannot happen to the Pod. */
  readonly isRestarting?: boolean;
}

type State = Pick<PodCondition, "status" | "reason" | "message">;

const TRUE: State = { status: "True" };
/** The conditions that a kubelet owns, in its order. All others are kept, and come first. */
const OWNED = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"] as const;

const RESIZE_PENDING = "PodResizePending";
const isOfOthers = (type: string) =>
  !(OWNED as readonly string[]).includes(type) && type !== RESIZE_PENDING && type !== RESTARTING_CONDITION;

/** The conditions of a Pod. Upstream: generateAPIPodStatus */
export function podConditions(input: ConditionInput): PodCondition[] {
  const { pod, hasSandbox, now } = input;
  const before = pod.status?.conditions ?? [];
  const others = before.filter(({ type = "" }) => isOfOthers(type));
  const containersReady = containersReadyState(input);
  const states: Record<(typeof OWNED)[number], State> = {
    PodReadyToStartContainers: hasSandbox
      ? TRUE
      : {
          status: "False",
          reason: "PodSandboxNotReady",
          message: "pod sandbox is not ready",
        },
    Initialized: initializedState(input),
    Ready: containersReady.status === "True" ? readyState(pod, others) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: TRUE,
  };
  const made = (type: string, { status, reason, message }: State): PodCondition => {
    const known = before.find((condition) => condition.type === type);
    const { generation } = pod.metadata;
    return {
      type,
      ...(generation !== undefined && { observedGeneration: generation }),
      ...(status !== undefined && { status }),
      // As it is stored: otherwise every status would seem to differ from the stored one.
      lastProbeTime: null,
      lastTransitionTime: known?.status === status ? (known?.lastTransitionTime ?? now) : now,
      ...(reason && { reason }),
      ...(message && { message }),
    };
  };
  const resize = input.resizePending ? [made(RESIZE_PENDING, { status: "True", ...input.resizePending })] : [];
  const restarting = input.isRestarting === undefined ? [] : [made(RESTARTING_CONDITION, restartingState(input))];
  return [...others, ...resize, ...OWNED.map((type) => made(type, states[type])), ...restarting];
}

/** Reasons of Pods whose containers have all ended. */
const FINISHED: Readonly<Record<string, string>> = { Succeeded: "PodCompleted", Failed: "PodFailed" };

/** Upstream: GenerateAllContainersRestartingCondition */
function restartingState({ phase, isRestarting }: ConditionInput): State {
  const reason = getMember(FINISHED, phase);
  if (reason !== undefined || !isRestarting) return { status: "False", ...(reason !== undefined && { reason }) };
  return {
    status: "True",
    reason: "RestartAllContainersStarted",
    message: "container exited with restart policy rule",
  };
}

function containersReadyState({ containers, statuses, phase }: ConditionInput): State {
  const reason = getMember(FINISHED, phase);
  if (reason !== undefined) return { status: "False", reason };
  const unready = containers.filter(
    ({ name, role }) => (role === "main" || role === "sidecar") && !statuses.get(name)?.ready,
  );
  if (unready.length === 0) return TRUE;
  return { status: "False", reason: "ContainersNotReady", message: `containers with unready status: ${list(unready)}` };
}

function initializedState({ containers, statuses, phase }: ConditionInput): State {
  if (phase === "Succeeded") return { status: "True", reason: "PodCompleted" };
  if (containers.some(({ name, role }) => role === "main" && hasStarted(statuses.get(name)))) return TRUE;
  const incomplete = containers.filter(
    (one) => (one.role === "init" || one.role === "sidecar") && !isInitialized(one, statuses.get(one.name)),
  );
  if (incomplete.length === 0) return TRUE;
  const message = `containers with incomplete status: ${list(incomplete)}`;
  return { status: "False", reason: "ContainersNotInitialized", message };
}

function readyState({ spec: { readinessGates = [] } = {} }: Pod, others: readonly PodCondition[]): State {
  const messages = readinessGates.flatMap(({ conditionType = "" }) => {
    const condition = others.find(({ type }) => type === conditionType);
    const gate = `pod readiness gate ${quote(conditionType)}`;
    if (condition === undefined) return [`corresponding condition of ${gate} does not exist.`];
    return condition.status === "True" ? [] : [`the status of ${gate} is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return TRUE;
  return { status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

const list = (containers: readonly PodContainer[]) => `[${containers.map(({ name }) => name).join(" ")}]`;
