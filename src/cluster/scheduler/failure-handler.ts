import type { Pod } from "../../kinds/types/workloads.ts";
import { messageOf } from "../controllers/shared/controller.ts";
import { type Informer, keyOf } from "../controllers/shared/informer.ts";
import type { ManagerContext } from "../controllers/shared/manager-context.ts";
import { Simulation } from "./check-node.ts";
import { NoNodes } from "./choose-node.ts";
import type { NominatedPods } from "./nominated-pods.ts";
import type { FailedAttempt, PluginContext, PostFilterResult } from "./plugin.ts";
import { podInfoOf } from "./pod-info.ts";
import { writePodStatus } from "./pod-status-writer.ts";
import type { Profile } from "./profile.ts";
import type { SchedulingQueue } from "./queue.ts";
import type { QueuedPod } from "./queued-pod.ts";
import type { Unfit } from "./unfit.ts";

/** What the FailureHandler works with. */
export interface FailureHandlerOptions {
  readonly context: ManagerContext;
  readonly pods: Informer<Pod>;
  readonly queue: SchedulingQueue;
  readonly nominated: NominatedPods;
  readonly record: PluginContext["record"];
}

/** A failure as users see it. */
interface Failure {
  readonly reason: "Unschedulable" | "SchedulerError";
  readonly message: string;
  readonly rejectors: ReadonlySet<string>;
  /** Empty: none from now on. Undefined: unchanged. */
  readonly nominatedNodeName?: string | undefined;
}

const NO_REJECTORS: ReadonlySet<string> = new Set();

/** Takes back Pods that could not be scheduled, and says so in an Event and a condition. Upstream: handleSchedulingFailure */
export class FailureHandler {
  readonly #options: FailureHandlerOptions;

  constructor(options: FailureHandlerOptions) {
    this.#options = options;
  }

  /** No node is possible. */
  unfit(queued: QueuedPod, profile: Profile, unfit: Unfit): void {
    const { message, nominatedNodeName } = this.#postFilter(queued, profile, unfit);
    if (message !== undefined) unfit.postFilterMessage = message;
    const { rejectors } = unfit;
    this.#handle(queued, { reason: "Unschedulable", message: unfit.message, rejectors, nominatedNodeName });
  }

  /** A plugin has rejected the chosen node. */
  rejected(queued: QueuedPod, { message, rejectors }: Unfit): void {
    this.#handle(queued, { reason: "Unschedulable", message, rejectors, nominatedNodeName: "" });
  }

  /** A plugin or a write has failed. */
  failed(queued: QueuedPod, error: unknown): void {
    const reason = error instanceof NoNodes ? "Unschedulable" : "SchedulerError";
    this.#handle(queued, { reason, message: messageOf(error), rejectors: NO_REJECTORS, nominatedNodeName: "" });
  }

  skipDeleted({ info: { pod, namespace, name } }: QueuedPod): void {
    this.#record(pod, `skip schedule deleting pod: ${namespace}/${name}`);
  }

  #postFilter({ info }: QueuedPod, profile: Profile, unfit: Unfit): PostFilterResult {
    const check = { pod: info, filters: unfit.filters, nominated: this.#options.nominated };
    const attempt: FailedAttempt = {
      pod: info,
      general: unfit.general,
      rejectionOf: (node) => unfit.rejectionOf(node),
      simulate: (node) => new Simulation(check, node),
    };
    const messages: string[] = [];
    let last: PostFilterResult = {};
    for (const { plugin } of profile.at("postFilter")) {
      const result = plugin.postFilter?.(attempt);
      if (result?.nominatedNodeName !== undefined) last = result;
      if (result?.message !== undefined) messages.push(result.message);
      if (result?.isFinal) return { ...result, message: messages.join(", ") };
    }
    return { ...last, ...(messages.length > 0 && { message: messages.join(", ") }) };
  }

  #handle(queued: QueuedPod, { reason, message, rejectors, nominatedNodeName }: Failure): void {
    const { context, pods, queue, nominated } = this.#options;
    const { pod: tried, uid } = queued.info;
    const current = pods.get(keyOf(tried));
    if (current && (current.metadata.uid !== uid || current.spec?.nodeName)) return;
    if (current) {
      queue.takeBack(queued, current, rejectors);
      if (nominatedNodeName) nominated.set(podInfoOf(current), nominatedNodeName);
      else if (nominatedNodeName === "") nominated.delete(uid);
    }
    const pod = current ?? tried;
    this.#record(pod, message);
    const condition = { type: "PodScheduled", status: "False", reason, message };
    writePodStatus(context, pods.resource, pod, { condition, nominatedNodeName }).catch((error: unknown) =>
      context.report("kube-scheduler", error),
    );
  }

  #record(pod: Pod, note: string): void {
    this.#options.record(pod, { type: "Warning", reason: "FailedScheduling", action: "Scheduling", note });
  }
}
