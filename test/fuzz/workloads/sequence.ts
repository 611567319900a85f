import { isDeepStrictEqual } from "node:util";
import { isObject, type KubeObject } from "../../../src/base/api/object.ts";
import type { Node } from "../../../src/kinds/types/node.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import { eventually } from "../../support/time.ts";
import { Random } from "../random.ts";
import type { NamespaceView } from "./cluster-view.ts";
import type { Cluster } from "./clusters.ts";
import { type Difference, differences } from "./differences.ts";
import { KINDS, NAMED_KINDS, UNNAMED_KINDS } from "./kinds.ts";
import { NODES, SILENT } from "./nodes.ts";
import { GENERAL_ACTIONS } from "./pod-actions.ts";
import { cleaner, type Snapshot, takeSnapshot } from "./snapshot.ts";
import { type Fixture, pathOf, type Request, type Step, type WorkloadKind, type World } from "./steps.ts";
import { HOLD, NODE_LABEL } from "./templates.ts";

/** What a sequence found. */
export interface Outcome {
  readonly seed: number;
  /** Titles of the steps until the first difference. */
  readonly steps: readonly string[];
  readonly differences: readonly Difference[];
}

/** Both clusters, the one with the real program first. */
export type Twins = readonly [theirs: Cluster, ours: Cluster];

/** How long nothing may have changed before the clusters are compared, and before a difference counts. */
const QUIET_MS = 600;
const DIFFERENT_MS = 6000;
/** How long an object may look unfinished without a change before it is compared anyway. Autoscalers act every 15 s. */
const STUCK_MS = 18_000;
/** How long a namespace may keep changing. Some never end, such as Pods that are replaced whenever they fail. */
const RESTLESS_MS = 150_000;
/** How long a silent node, or the Pods of one that is gone, may wait for a controller. */
const PATIENCE_MS = 120_000;

const SNAPSHOT = {
  kinds: NAMED_KINDS,
  unnamed: UNNAMED_KINDS,
  eventRules: {
    components: KINDS.flatMap(({ components }) => components),
    rules: Object.assign({}, ...KINDS.map(({ eventRules }) => eventRules ?? {})),
  },
};
/** How many objects a sequence creates, and how often. */
const WORKLOADS = { most: 3, rate: 0.15 };
const SMALL = { most: 6, rate: 0.45 };
const NODE_NAMES = ["a", "b"];
const CAPACITY = { cpu: "32", memory: "256Gi", pods: "110" };

/**
 * Runs the sequence of a seed in both clusters until they differ. `kinds`: names of the kinds to create. Each run of a
 * seed needs another number: the controllers may still know the nodes of the one before.
 */
export async function runSequence(
  twins: Twins,
  seed: number,
  kinds: readonly WorkloadKind[],
  run = 1,
): Promise<Outcome> {
  const namespace = run === 1 ? `w${seed}` : `w${seed}r${run}`;
  const sequence = new Sequence(twins, new Random(seed), namespace, kinds);
  try {
    await sequence.prepare();
    return { seed, ...(await sequence.run()) };
  } finally {
    await sequence.cleanUp();
  }
}

class Sequence {
  readonly #twins: Twins;
  readonly #random: Random;
  readonly #namespace: string;
  readonly #kinds: readonly WorkloadKind[];
  readonly #nodes: readonly string[];
  #number = 0;
  /** Both clusters keep changing, so there is nothing to compare. */
  #isRestless = false;

  constructor(twins: Twins, random: Random, namespace: string, kinds: readonly WorkloadKind[]) {
    this.#twins = twins;
    this.#random = random;
    this.#namespace = namespace;
    this.#kinds = kinds;
    this.#nodes = NODE_NAMES.map((name) => `${namespace}-${name}`);
  }

  async run(): Promise<Pick<Outcome, "steps" | "differences">> {
    const steps: string[] = [];
    const count = 4 + this.#random.below(10);
    while (steps.length < count && !this.#isRestless) {
      const step = this.#plan(steps.length === 0);
      if (step === undefined) continue;
      steps.push(step.title);
      const found = (await this.#apply(step)) ?? (await this.#settle());
      if (found.length > 0) return { steps, differences: found };
    }
    return { steps, differences: [] };
  }

  /** Creates the namespace and its nodes, and waits until Pods can run. */
  async prepare(): Promise<void> {
    await Promise.all(this.#twins.map((cluster) => this.#prepare(cluster)));
  }

  async #prepare({ client, view }: Cluster): Promise<void> {
    view.namespace(this.#namespace);
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: this.#namespace } });
    for (const name of this.#nodes) {
      const labels = { [NODE_LABEL]: this.#namespace, "kubernetes.io/hostname": name };
      await client.call("POST", "/api/v1/nodes", {
        metadata: { name, labels },
        status: { allocatable: CAPACITY, capacity: CAPACITY },
      });
    }
    for (const { path, body } of this.#fixtures()) await client.call("POST", path, body);
    const account = `/api/v1/namespaces/${this.#namespace}/serviceaccounts/default`;
    const isReady = async () => {
      const nodes = await Promise.all(this.#nodes.map((name) => client.call("GET", `/api/v1/nodes/${name}`)));
      const areFree = nodes.every(({ body }) => isNodeReady(body) && body.spec.taints === undefined);
      return areFree && (await client.call("GET", account)).status === 200;
    };
    await eventually(isReady, { everyMs: 200, what: `${this.#namespace} is ready` });
  }

  /** Deletes everything that the sequence created. */
  async cleanUp(): Promise<void> {
    await Promise.all(this.#twins.map((cluster) => this.#cleanUp(cluster)));
  }

  async #cleanUp({ client, view }: Cluster): Promise<void> {
    const namespace = `/api/v1/namespaces/${this.#namespace}`;
    await client.call("DELETE", namespace);
    const held = [...KINDS.map(({ collection }) => collection), { kind: "Pod", root: "/api/v1", plural: "pods" }];
    const isGone = async () => {
      for (const collection of held) {
        const objects = view.namespace(this.#namespace).of(collection.kind);
        for (const { metadata } of objects.filter(({ metadata }) => metadata.finalizers?.includes(HOLD))) {
          const finalizers = metadata.finalizers?.filter((one) => one !== HOLD) ?? [];
          const path = pathOf(this.#world(), collection, metadata.name);
          await client.call(
            "PATCH",
            path,
            { metadata: { finalizers } },
            { "content-type": "application/merge-patch+json" },
          );
        }
      }
      for (const { metadata } of view.namespace(this.#namespace).of("Pod") as Pod[]) {
        // No kubelet may be there to end it.
        if (metadata.deletionTimestamp === undefined) continue;
        await client.call("DELETE", `${namespace}/pods/${metadata.name}`, { gracePeriodSeconds: 0 });
      }
      return (await client.call("GET", namespace)).status === 404;
    };
    await eventually(isGone, { everyMs: 500, what: `${this.#namespace} is gone` });
    await eventually(() => this.#areClusterScopedGone({ client, view }), {
      everyMs: 200,
      what: "cluster-scoped objects are gone",
    });
    for (const { path, body } of this.#fixtures()) await client.call("DELETE", `${path}/${body.metadata.name}`);
    view.forget(this.#namespace);
  }

  /** Deletes cluster-scoped objects. Returns whether none is left. */
  async #areClusterScopedGone({ client, view }: Pick<Cluster, "client" | "view">): Promise<boolean> {
    const kinds = KINDS.filter(({ collection }) => collection.isClusterScoped);
    const left = kinds.flatMap(({ collection }) =>
      view
        .namespace(this.#namespace)
        .of(collection.kind)
        .map(({ metadata }) => ({ collection, metadata })),
    );
    for (const { collection, metadata } of left) {
      const path = pathOf(this.#world(), collection, metadata.name);
      const finalizers = metadata.finalizers?.filter((one) => one !== HOLD) ?? [];
      const type = { "content-type": "application/merge-patch+json" };
      await client.call("PATCH", path, { metadata: { finalizers } }, type);
      await client.call("DELETE", path);
    }
    return left.length === 0;
  }

  #fixtures(): Fixture[] {
    return this.#kinds.flatMap(({ fixtures }) => fixtures?.(this.#namespace) ?? []);
  }

  #world(): World {
    const view = this.#viewOf(this.#twins[0]);
    return {
      namespace: this.#namespace,
      nodes: this.#nodes,
      random: this.#random,
      view,
      clean: cleaner(view, NAMED_KINDS),
      nextNumber: () => this.#number++,
    };
  }

  #viewOf({ view }: Cluster): NamespaceView {
    return view.namespace(this.#namespace);
  }

  #plan(isFirst: boolean): Step | undefined {
    const world = this.#world();
    const random = this.#random;
    const targets = this.#kinds.flatMap((kind) => ownedByNobody(world.view, kind).map((object) => ({ kind, object })));
    const createOne = (kinds: readonly WorkloadKind[]): Step | undefined => {
      const kind = random.pick(kinds);
      return (kind.canCreate?.(world) ?? true) ? create(world, kind) : undefined;
    };
    const independent = this.#kinds.filter(({ isDependent }) => !isDependent);
    const dependent = this.#kinds.filter(({ isDependent }) => isDependent);
    if (isFirst || targets.length === 0) return createOne(independent.length > 0 ? independent : dependent);
    const isLonely = dependent.length > 0 && targets.every(({ kind }) => !kind.isDependent);
    if (isLonely && random.chance(0.5)) return createOne(dependent);
    const { most, rate } = this.#kinds.every(({ isSmall }) => isSmall) ? SMALL : WORKLOADS;
    if (targets.length < most && random.chance(rate)) return createOne(this.#kinds);
    if (random.chance(0.35)) return weighted(random, GENERAL_ACTIONS).plan(world);
    const { kind, object } = random.pick(targets);
    return weighted(random, kind.actions).plan(world, object);
  }

  /** Sends the requests of a step to both clusters. Returns differences between their responses. */
  async #apply(step: Step): Promise<Difference[] | undefined> {
    const answers = await Promise.all(
      this.#twins.map(async (cluster) => {
        const view = this.#viewOf(cluster);
        const clean = cleaner(view, NAMED_KINDS);
        const results: string[] = [];
        for (const request of step.requests({ view, clean })) results.push(clean(await send(cluster, request)));
        view.touch();
        return results;
      }),
    );
    const found = differences(answers[0], answers[1], "response");
    return found.length > 0 ? found : undefined;
  }

  /** Waits until both clusters have nothing to do any more. Returns where they differ then. */
  async #settle(): Promise<Difference[]> {
    const views = this.#twins.map((cluster) => this.#viewOf(cluster));
    const beganMs = performance.now();
    const probe = () => {
      const now = performance.now();
      if (now - beganMs > RESTLESS_MS) {
        const [theirs, ours] = views.map(({ lastChangeMs }) => now - lastChangeMs < STUCK_MS) as [boolean, boolean];
        this.#isRestless = true;
        return differences(theirs, ours, "keeps changing");
      }
      const quietMs = Math.min(...views.map(({ lastChangeMs }) => now - lastChangeMs));
      const isStuck = quietMs >= (views.some(isWaitingForNode) ? PATIENCE_MS : STUCK_MS);
      const isDone = isStuck || views.every(isSettled);
      if (!isDone || quietMs < QUIET_MS) return undefined;
      const [theirs, ours] = views.map((view) => takeSnapshot(view, SNAPSHOT)) as [Snapshot, Snapshot];
      const found = differences(theirs, ours);
      return found.length === 0 || quietMs >= DIFFERENT_MS ? found : undefined;
    };
    return eventually(probe, { everyMs: 50, what: `${this.#namespace} settles` });
  }
}

async function send({ client }: Cluster, { method, path, body, type }: Request): Promise<string> {
  const { status, body: answer } = await client.call(
    method,
    path,
    body,
    type === undefined ? {} : { "content-type": type },
  );
  return status < 300 ? String(status) : `${status} ${answer.message}`;
}

function create(world: World, kind: WorkloadKind): Step {
  const prefix = kind.collection.isClusterScoped ? `${world.namespace}.` : "";
  const name = `${prefix}${kind.collection.plural.slice(0, 3)}${world.nextNumber()}`;
  const { metadata, ...members } = kind.create(world, name);
  const body = { metadata: { name, ...metadata }, ...members };
  const path = pathOf(world, kind.collection);
  return {
    title: `create ${kind.collection.kind} ${JSON.stringify(body)}`,
    requests: () => [{ method: "POST", path, body }],
  };
}

/** Objects of a kind that a user created. */
function ownedByNobody(view: NamespaceView, { collection, isTarget = () => true }: WorkloadKind): KubeObject[] {
  return view
    .of(collection.kind)
    .filter(isTarget)
    .filter(({ metadata }) => (metadata.ownerReferences ?? []).length === 0)
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

function weighted<T extends { readonly weight: number }>(random: Random, choices: readonly T[]): T {
  let rest = random.next() * choices.reduce((sum, { weight }) => sum + weight, 0);
  for (const choice of choices) {
    rest -= choice.weight;
    if (rest < 0) return choice;
  }
  return random.pick(choices);
}

function isNodeReady(node: { status?: { conditions?: { type: string; status: string }[] } }): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function isSettled(view: NamespaceView): boolean {
  const areKinds = KINDS.every((kind) => view.of(kind.collection.kind).every((object) => kind.isSettled(object, view)));
  return (
    areKinds &&
    (view.of("Pod") as Pod[]).every((pod) => isPodSettled(pod, view)) &&
    view.of("ResourceQuota").every(isQuotaSettled)
  );
}

/** Whether only time is missing until a controller acts on a node or its Pods. */
function isWaitingForNode(view: NamespaceView): boolean {
  const nodes = view.of("Node") as Node[];
  return hasLostPod(view) || nodes.some((node) => isSilent(node) && !NODES.isSettled(node, view));
}

/** Whether there is a Pod on a node of the sequence that is gone. */
function hasLostPod(view: NamespaceView): boolean {
  return (view.of("Pod") as Pod[]).some(({ spec, metadata }) => {
    const { nodeName = "" } = spec ?? {};
    return nodeName !== "" && !metadata.finalizers?.includes(HOLD) && view.get("Node", nodeName) === undefined;
  });
}

const isSilent = ({ metadata }: Node) => metadata.labels?.[SILENT] !== undefined;

function isPodSettled({ metadata, spec, status }: Pod, view: NamespaceView): boolean {
  if (hasLostPod(view)) return false;
  const node = view.get("Node", spec?.nodeName ?? "") as Node | undefined;
  // Nothing ends its Pods.
  if (node && isSilent(node)) return true;
  if (metadata.deletionTimestamp !== undefined) return metadata.finalizers?.includes(HOLD) ?? false;
  const isOfJob = metadata.ownerReferences?.some(({ kind }) => kind === "Job") ?? false;
  // KWOK completes it. A Service that is created before that keeps its address: the phase alone changes no endpoints.
  if (status?.phase === "Running" && isOfJob) return false;
  if (status?.phase !== "Pending") return true;
  const { nodeSelector, volumes = [] } = (spec ?? {}) as PlacedSpec;
  const isWaiting = status.conditions?.some(({ reason }) => reason === "Unschedulable") ?? false;
  const isClaiming = volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral);
  return isWaiting && (view.isCordoned || isClaiming || nodeSelector?.[NODE_LABEL] !== metadata.namespace);
}

interface PlacedSpec {
  readonly nodeSelector?: Record<string, string>;
  readonly volumes?: readonly { readonly persistentVolumeClaim?: unknown; readonly ephemeral?: unknown }[];
}

function isQuotaSettled({ spec, status }: KubeObject): boolean {
  return isObject(spec) && isObject(status) && isDeepStrictEqual(spec.hard, status.hard);
}
