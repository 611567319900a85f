import type { JsonObject, ObjectMeta } from "../../../base/api/object.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { TestCluster } from "../../controllers/shared/controllers.suite.ts";
import { OTHER_RESOURCES, type OtherResource } from "../cluster-events.ts";
import { ClusterState } from "../cluster-state.ts";
import { NominatedPods } from "../nominated-pods.ts";
import type { MakePlugin, Plugin, PluginContext } from "../plugin.ts";
import { podInfoOf } from "../pod-info.ts";

/** What a test says about a node. */
export interface NodeFacts {
  readonly labels?: { readonly [name: string]: string };
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** A node with plenty of everything, unless `status` says otherwise. */
export function node(name: string, { labels = {}, spec = {}, status = {} }: NodeFacts = {}): Node {
  const allocatable = { cpu: "4", memory: "8Gi", pods: "110" };
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: { name, uid: name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec,
    status: { allocatable, ...status },
  };
}

/** A Pod in the namespace default. */
export function pod(name: string, spec: JsonObject = {}, metadata: Partial<ObjectMeta> = {}): Pod {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name, namespace: "default", uid: name, ...metadata },
    spec: { containers: [{ name: "main", image: "nginx" }], ...spec },
  };
}

/** A Pod whose only container requests this. */
export function requesting(name: string, requests: { [resource: string]: string }, spec: JsonObject = {}): Pod {
  return pod(name, { containers: [{ name: "main", image: "nginx", resources: { requests } }], ...spec });
}

/** Nodes and Pods for the test of one plugin. `kinds`: its further objects, if it reads some through informers. */
export class PluginWorld {
  readonly state = new ClusterState();
  readonly kinds = new TestCluster();
  readonly context: PluginContext;
  readonly plugin: Plugin;
  #loading = new AbortController();

  constructor(make: MakePlugin<never>, args: unknown = {}, ...nodes: readonly Node[]) {
    const { resources, client, report, informers } = this.kinds;
    const unused = { nominated: new NominatedPods(), record: () => undefined, retry: () => undefined };
    this.context = { resources, client, report, informers, cluster: this.state, ...unused };
    this.plugin = make(this.context, args as never);
    for (const one of nodes) this.state.setNode(one);
  }

  readonly info = podInfoOf;

  /** Lets the plugin see all objects of `kinds`. Call `stop` at the end. */
  async load(): Promise<void> {
    const { uses = [], events = [] } = this.plugin;
    const observed = events.flatMap(({ resource }) => {
      const known = Object.hasOwn(OTHER_RESOURCES, resource) && OTHER_RESOURCES[resource as OtherResource];
      return known ? [this.kinds.informers.of(known.group, known.plural).informer] : [];
    });
    await this.stop();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    await Promise.all([...uses, ...observed].map((informer) => informer.use(signal)));
  }

  async stop(): Promise<void> {
    this.#loading.abort();
  }

  /** Puts a Pod on a node. */
  place(nodeName: string, placed: Pod): this {
    this.state.setPod({ ...placed, spec: { ...placed.spec, nodeName } });
    return this;
  }

  /** Why the Pod cannot run on each node. Undefined for a node that is possible. */
  check(waiting: Pod): Record<string, string | undefined> {
    const filter = this.plugin.filter?.(podInfoOf(waiting));
    const found: Record<string, string | undefined> = {};
    for (const one of this.state.nodes) {
      const rejection = filter?.rejection ?? filter?.check(one);
      found[one.name] = rejection?.reasons.join(", ");
    }
    return found;
  }

  /** The normalized score of each node for the Pod. Undefined if the plugin prefers no node. */
  scores(waiting: Pod): Record<string, number> | undefined {
    const { nodes } = this.state;
    const info = podInfoOf(waiting);
    const scorer = this.plugin.score?.(info, nodes, this.plugin.filter?.(info));
    if (scorer === undefined) return undefined;
    const scores = nodes.map((one) => scorer.score(one));
    scorer.normalize?.(scores, nodes);
    return Object.fromEntries(nodes.map((one, index) => [one.name, scores[index] ?? Number.NaN]));
  }
}
