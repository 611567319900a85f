import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { isStatus, unlessCode } from "../../controllers/shared/controller.ts";
import type { PluginContext } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import { writePodStatus } from "../pod-status-writer.ts";
import type { Candidate } from "./victims.ts";

/** Removes the victims of a preemption, while the scheduler goes on. Upstream: Executor */
export class PreemptionExecutor {
  readonly #context: PluginContext;
  readonly #pods: ServedResource;
  /** Uids of Pods for which victims are being removed. */
  readonly #running = new Set<string>();

  constructor(context: PluginContext) {
    this.#context = context;
    this.#pods = context.informers.of<Pod>("", "pods").informer.resource;
  }

  /** Whether victims are being removed for a Pod. */
  isRunning(uid: string): boolean {
    return this.#running.has(uid);
  }

  /** Begins to remove the victims for a Pod. */
  start(pod: PodInfo, candidate: Candidate): void {
    const victims = candidate.victims.filter((victim) => victim.pod.metadata.deletionTimestamp === undefined);
    if (victims.length === 0) return;
    this.#running.add(pod.uid);
    this.#clearNominations(pod, candidate)
      .then(() => this.#removeAll(pod, candidate, victims))
      .catch((error: unknown) => {
        this.#context.report("kube-scheduler", error);
        this.#running.delete(pod.uid);
        this.#context.retry(pod.uid);
      });
  }

  async #removeAll(pod: PodInfo, candidate: Candidate, victims: readonly PodInfo[]): Promise<void> {
    const last = victims.at(-1);
    await Promise.all(victims.slice(0, -1).map((victim) => this.#remove(pod, candidate, victim)));
    // The deletion of the last victim must find the Pod in the queue, or nothing would ever wake it.
    this.#running.delete(pod.uid);
    if (last) await this.#remove(pod, candidate, last);
  }

  async #remove(preemptor: PodInfo, { node }: Candidate, { pod: victim, namespace, name }: PodInfo): Promise<void> {
    const { client } = this.#context;
    const scheduler = preemptor.pod.spec?.schedulerName;
    const condition = {
      ...{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" },
      message: `${scheduler}: preempting to accommodate a higher priority pod`,
    };
    await writePodStatus(this.#context, this.#pods, victim, { condition });
    try {
      await client.delete(this.#pods, { namespace, name });
    } catch (error) {
      if (isStatus(error, 404)) return;
      throw error;
    }
    const note = `Preempted by pod ${preemptor.uid} on node ${node.name}`;
    // Compat: the real scheduler means to name the Pod as `related`, but its type has no reference.
    this.#context.record(victim, { type: "Normal", reason: "Preempted", action: "Preempting", note });
  }

  /** Pods of a lower priority that waited for the same node must look for another one. */
  async #clearNominations({ priority }: PodInfo, { node }: Candidate): Promise<void> {
    const lower = [...(this.#context.nominated.of(node.name)?.values() ?? [])].filter((pod) => pod.priority < priority);
    await Promise.all(
      lower.map(({ pod }) =>
        writePodStatus(this.#context, this.#pods, pod, { nominatedNodeName: "" }).catch(unlessCode(404)),
      ),
    );
  }
}
