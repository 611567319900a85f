import type { KubeObject } from "../../base/api/object.ts";
import type { Choice } from "./choose-node.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { FailureHandler, FailureHandlerOptions } from "./failure-handler.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PluginFilter } from "./plugin.ts";
import type { PodInfo } from "./pod-info.ts";
import { writePodStatus } from "./pod-status-writer.ts";
import { explained } from "./profile.ts";
import type { QueuedPod } from "./queued-pod.ts";
import { Unfit } from "./unfit.ts";

/** What the Binder works with. */
export interface BinderOptions extends FailureHandlerOptions {
  readonly cluster: ClusterState;
  readonly failures: FailureHandler;
}

/** Binds Pods to their nodes while the scheduler goes on. Upstream: assumeAndReserve and bindingCycle */
export class Binder {
  readonly #options: BinderOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: BinderOptions) {
    this.#options = options;
  }

  /** Counts the Pod on the node at once, and binds it later. */
  bind(queued: QueuedPod, { node, filters }: Choice): void {
    const { cluster, nominated } = this.#options;
    cluster.assume(queued.info, node.name);
    nominated.delete(queued.info.uid);
    const rejected = filters.find(({ filter }) => this.#reserve(queued, { node, filters }, filter));
    if (rejected) return;
    const run = this.#write(queued.info, node, filters)
      .catch((error: unknown) => {
        this.#release(queued.info, node, filters);
        this.#options.failures.failed(queued, error);
      })
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Waits for nothing any more. Resolves when all Pods are bound, or binding them has failed. */
  async settled(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  /** Returns whether the filter rejected the Pod after all. */
  #reserve(queued: QueuedPod, { node, filters }: Choice, filter: PluginFilter["filter"]): boolean {
    const rejection = filter.reserve?.(node);
    if (rejection === undefined) return false;
    this.#release(queued.info, node, filters);
    const unfit = new Unfit(filters, 1);
    unfit.reject(node, rejection);
    this.#options.failures.rejected(queued, unfit);
    return true;
  }

  async #write(info: PodInfo, node: NodeInfo, filters: readonly PluginFilter[]): Promise<void> {
    const { context, pods, record } = this.#options;
    const { pod, namespace, name, uid } = info;
    const preparing = filters.filter(({ filter }) => filter.preBind !== undefined);
    // Compat: `NominatedNodeNameForExpectation` tells other programs where the Pod is going to run.
    if (preparing.length > 0) await writePodStatus(context, pods.resource, pod, { nominatedNodeName: node.name });
    for (const { plugin, filter } of preparing) {
      await prefixed(
        filter.preBind?.(node, this.#stopping.signal),
        `running PreBind plugin ${JSON.stringify(plugin.name)}`,
      );
    }
    const binding: KubeObject = {
      ...{ kind: "Binding", apiVersion: "v1", metadata: { namespace, name, uid } },
      target: { kind: "Node", name: node.name },
    };
    const bound = context.client.create(pods.resource, binding, { subresource: "binding" });
    await prefixed(bound, 'running Bind plugin "DefaultBinder"');
    const note = `Successfully assigned ${namespace}/${name} to ${node.name}`;
    record(pod, { type: "Normal", reason: "Scheduled", action: "Binding", note });
  }

  /** The room on the node is free again. */
  #release({ uid }: PodInfo, node: NodeInfo, filters: readonly PluginFilter[]): void {
    const { cluster, queue } = this.#options;
    for (const { filter } of [...filters].reverse()) filter.unreserve?.(node);
    if (!cluster.isAssumed(uid)) return;
    const placed = cluster.placed(uid);
    cluster.removePod(uid);
    queue.changed({ resource: "AssignedPod", action: "Delete" }, placed?.pod, undefined);
  }
}

async function prefixed<T>(result: Promise<T> | undefined, what: string): Promise<void> {
  try {
    await result;
  } catch (error) {
    throw explained(error, what);
  }
}
