import { setImmediate as nextTurn } from "node:timers/promises";
import type { Node } from "../../kinds/types/node.ts";
import type { Pod } from "../../kinds/types/workloads.ts";
import type { Controller } from "../controllers/shared/controller.ts";
import type { Informer } from "../controllers/shared/informer.ts";
import type { ManagerContext } from "../controllers/shared/manager-context.ts";
import { Binder } from "./binder.ts";
import { NodeChooser } from "./choose-node.ts";
import { OTHER_RESOURCES, type OtherResource } from "./cluster-events.ts";
import { ClusterObserver } from "./cluster-observer.ts";
import { ClusterState } from "./cluster-state.ts";
import { DEFAULT_CONFIGURATION, type SchedulerConfiguration } from "./configuration.ts";
import { FailureHandler } from "./failure-handler.ts";
import { NominatedPods } from "./nominated-pods.ts";
import type { Plugin, PluginContext } from "./plugin.ts";
import { makeProfile, type Profile } from "./profile.ts";
import { SchedulingQueue } from "./queue.ts";
import type { QueuedPod } from "./queued-pod.ts";
import { SchedulerEvents } from "./scheduler-events.ts";
import { Unfit } from "./unfit.ts";

/** How often Pods are looked for that have waited too long. */
const FLUSH_MS = 30_000;

/** kube-scheduler: gives every Pod a node. */
export class Scheduler implements Controller {
  readonly name = "kube-scheduler";
  readonly #context: ManagerContext;
  readonly #configuration: SchedulerConfiguration;

  constructor(context: ManagerContext, configuration = DEFAULT_CONFIGURATION) {
    this.#context = context;
    this.#configuration = configuration;
  }

  /** All state is built again from objects, because another scheduler may have run in the meantime. */
  async run(signal: AbortSignal): Promise<void> {
    await new SchedulerRun(this.#context, this.#configuration).run(signal);
  }
}

/** The scheduler between its start and its end. */
class SchedulerRun {
  readonly #context: ManagerContext;
  readonly #cluster = new ClusterState();
  readonly #nominated = new NominatedPods();
  readonly #chooser = new NodeChooser(this.#cluster, this.#nominated);
  readonly #profiles: ReadonlyMap<string, Profile>;
  readonly #queue: SchedulingQueue;
  readonly #binder: Binder;
  readonly #failures: FailureHandler;
  readonly #pods: Informer<Pod>;
  readonly #events: ReadonlyMap<string, SchedulerEvents>;
  #wake: () => void = () => undefined;

  constructor(context: ManagerContext, { profiles, backoff }: SchedulerConfiguration) {
    this.#context = context;
    const { informers, resources } = context;
    this.#pods = informers.of<Pod>("", "pods").informer;
    const pluginContext: PluginContext = {
      ...{ ...context, cluster: this.#cluster, nominated: this.#nominated },
      record: (pod, event) => this.#events.get(pod.spec?.schedulerName ?? "")?.record(pod, event),
      retry: (uid) => this.#queue.retry(uid),
    };
    this.#profiles = new Map(profiles.map((one) => [one.schedulerName, makeProfile(pluginContext, one)]));
    this.#queue = new SchedulingQueue({
      clock: resources.clock,
      profiles: this.#profiles,
      onReady: () => this.#wake(),
      backoff,
    });
    this.#events = new Map([...this.#profiles.keys()].map((name) => [name, new SchedulerEvents(context, name)]));
    const { record } = pluginContext;
    const shared = { context, record, pods: this.#pods, queue: this.#queue, nominated: this.#nominated };
    this.#failures = new FailureHandler(shared);
    this.#binder = new Binder({ ...shared, cluster: this.#cluster, failures: this.#failures });
  }

  async run(signal: AbortSignal): Promise<void> {
    const disconnect = await this.#connect(signal);
    const flush = this.#context.resources.clock.setInterval(FLUSH_MS, () => this.#queue.flush());
    try {
      while (!signal.aborted) {
        const next = this.#queue.pop();
        if (next === undefined) await this.#ready(signal);
        else {
          this.#scheduleOne(next);
          await nextTurn();
        }
      }
    } finally {
      flush.close();
      this.#queue.close();
      disconnect();
      await this.#binder.settled();
    }
  }

  /** Loads all informers, then follows them. Returns a function that ends this. */
  async #connect(signal: AbortSignal): Promise<() => void> {
    const { informers } = this.#context;
    const plugins = [...this.#profiles.values()].flatMap((profile) => profile.plugins.map(({ plugin }) => plugin));
    const nodes = informers.of<Node>("", "nodes").informer;
    const others = observedKinds(plugins).map((resource) => {
      const { group, plural } = OTHER_RESOURCES[resource];
      return { resource, informer: informers.of(group, plural).informer };
    });
    const used = plugins.flatMap(({ uses = [] }) => uses);
    const all = [nodes, this.#pods, ...others.map(({ informer }) => informer), ...used];
    await Promise.all(all.map((informer) => informer.use(signal)));
    if (signal.aborted) return () => undefined;
    const isResponsible = ({ spec }: Pod) => this.#profiles.has(spec?.schedulerName ?? "");
    const observer = new ClusterObserver(this.#cluster, this.#queue, this.#nominated, isResponsible);
    const ends = [
      nodes.observe((before, after) => observer.node(before, after)),
      ...others.map(({ resource, informer }) =>
        informer.observe((before, after) => observer.other(resource, before, after)),
      ),
      this.#pods.observe((before, after) => observer.pod(before, after)),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  #ready(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener("abort", end);
        this.#wake = () => undefined;
        resolve();
      };
      this.#wake = end;
      signal.addEventListener("abort", end);
      if (signal.aborted) end();
    });
  }

  #scheduleOne(queued: QueuedPod): void {
    const { pod } = queued.info;
    const profile = this.#profiles.get(pod.spec?.schedulerName ?? "");
    if (profile === undefined || this.#cluster.isAssumed(queued.info.uid)) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#failures.skipDeleted(queued);
      return;
    }
    try {
      const result = this.#chooser.choose(queued.info, profile);
      if (result instanceof Unfit) this.#failures.unfit(queued, profile, result);
      else this.#binder.bind(queued, result);
    } catch (error) {
      this.#failures.failed(queued, error);
    }
  }
}

/** The kinds besides Nodes and Pods whose changes a plugin is interested in. */
function observedKinds(plugins: readonly Plugin[]): OtherResource[] {
  const named = plugins.flatMap(({ events = [] }) => events.map(({ resource }) => resource));
  return [...new Set(named)].filter((resource): resource is OtherResource => Object.hasOwn(OTHER_RESOURCES, resource));
}
