import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import { Random } from "../random.ts";
import { budgetChanges } from "./budgets.ts";
import { type Change, headersOf, newNode, randomChange } from "./changes.ts";
import type { SchedulerCluster } from "./clusters.ts";
import { PRIORITIES, plainPod, RUNTIME_CLASS, randomPod } from "./shapes.ts";
import { type NewObject, randomStorage, randomVolumes, sharedStorage } from "./volumes.ts";

/** Both clusters, the one with the real scheduler first. */
export type Twins = readonly [theirs: SchedulerCluster, ours: SchedulerCluster];

/** What a sequence found. */
export interface Outcome {
  readonly seed: number;
  /** Pods that were created, and what became of them. A Pod that is tried again after a change is counted again. */
  readonly decisions: Readonly<Record<Kind, number>>;
  /** Empty if all decisions were the same. */
  readonly differences: readonly string[];
}

type Kind = "created" | "bound" | "tied" | "rejected" | "preempted" | "nudged" | "gated" | "besides a nominated Pod";

const PODS = "/api/v1/namespaces/default/pods";
const NODES = "/api/v1/nodes";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const MERGE = { "content-type": "application/merge-patch+json" };
const NOW = { gracePeriodSeconds: 0 };
const SENTINEL = "sentinel";
/** Start times of Pods are all different, so that victims of preemption have an order. */
const FIRST_START = Date.UTC(2026, 0, 1);

/** Creates what all sequences need. */
export async function prepare(twins: Twins): Promise<void> {
  for (const { client } of twins) {
    for (const value of PRIORITIES) {
      await client.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        metadata: { name: `p${value}` },
        value,
      });
    }
    await client.call("POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "cache" },
      spec: { clusterIP: "None", selector: { app: "cache" } },
    });
    for (const { path, object } of sharedStorage()) await client.call("POST", path, object);
    const overhead = { podFixed: { cpu: "150m", memory: "90Mi" } };
    const runtime = { metadata: { name: RUNTIME_CLASS }, handler: RUNTIME_CLASS, overhead };
    await client.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime);
    await client.call("POST", NODES, {
      metadata: { name: SENTINEL },
      status: { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } },
    });
    for (;;) if ((await client.call("GET", "/api/v1/namespaces/default/serviceaccounts/default")).status === 200) break;
  }
}

/** Runs the sequence of a seed in both clusters until they differ. */
export async function runSequence(twins: Twins, seed: number): Promise<Outcome> {
  const sequence = new Sequence(twins, seed);
  try {
    await sequence.prepare();
    return await sequence.run();
  } finally {
    await sequence.cleanUp();
  }
}

class Sequence {
  readonly #twins: Twins;
  readonly #seed: number;
  readonly #random: Random;
  readonly #nodes: string[];
  readonly #decisions: Record<Kind, number> = {
    ...{ created: 0, bound: 0, tied: 0, rejected: 0, preempted: 0, nudged: 0, gated: 0 },
    "besides a nominated Pod": 0,
  };
  readonly #claims: string[] = [];
  #storage: readonly NewObject[] = [];
  /** Whether the clusters have different volumes because of a tie. */
  #isOver = false;
  /** Most of its Pods fit everywhere, so that nodes fill up and Pods preempt others. */
  readonly #isCrowded: boolean;
  /** Victims of earlier Pods. */
  #ending: ReadonlySet<string | undefined> = new Set();
  #started = 0;
  #probes = 0;

  constructor(twins: Twins, seed: number) {
    this.#twins = twins;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#isCrowded = this.#random.chance(0.4);
    const count = 1 + this.#random.below(this.#isCrowded ? 4 : 8);
    this.#nodes = Array.from({ length: count }, (_, index) => `n${seed}-${index}`);
  }

  async prepare(): Promise<void> {
    for (const name of this.#nodes) await this.#change(newNode(this.#random, name));
    await this.#change(budgetChanges(this.#random, this.#seed));
    this.#storage = randomStorage(this.#random, this.#seed, this.#nodes);
    for (const { path, object } of this.#storage) await this.#both(({ client }) => client.call("POST", path, object));
    await this.#settle();
  }

  /** Resolves when both schedulers have seen all changes so far. */
  async #settle(): Promise<void> {
    const number = ++this.#probes;
    await this.#both((cluster) => this.#probe(cluster, `probe-${this.#seed}-${number}`));
  }

  /** Waits until a Pod runs on a node that changed after all others. */
  async #probe({ client, pods }: SchedulerCluster, name: string): Promise<void> {
    const labels = { seen: name };
    await client.call("PATCH", `${NODES}/${SENTINEL}`, { metadata: { labels } }, MERGE);
    const containers = [{ name: "c", image: "probe" }];
    const spec = { containers, nodeSelector: labels, tolerations: [{ operator: "Exists" }] };
    await client.call("POST", PODS, { metadata: { name }, spec });
    await pods.until(`${name} is bound`, () => pods.get(name)?.spec?.nodeName);
    await client.call("DELETE", `${PODS}/${name}`, NOW);
  }

  async cleanUp(): Promise<void> {
    await this.#both(async ({ client, pods }) => {
      for (const { metadata } of pods.all()) await client.call("DELETE", `${PODS}/${metadata.name}`, NOW);
      await pods.until("all Pods are gone", () => pods.all().length === 0 || undefined);
      for (const name of this.#nodes) await client.call("DELETE", `${NODES}/${name}`);
      for (const { path, object } of this.#storage) {
        await client.call("DELETE", `${path}/${(object.metadata as JsonObject).name}`);
      }
      await client.call("DELETE", BUDGETS);
    });
  }

  async run(): Promise<Outcome> {
    const differences: string[] = [];
    const count = 8 + this.#random.below(25);
    for (let number = 0; number < count && differences.length === 0 && !this.#isOver; number += 1) {
      const { volumes, claim } = randomVolumes(this.#random, this.#seed, number, this.#claims);
      if (claim) await this.#both(({ client }) => client.call("POST", claim.path, claim.object));
      const pod = this.#pod(`p${this.#seed}-${number}`, number, { volumes });
      const found = await this.#create(pod);
      if (found) differences.push(found, JSON.stringify(pod));
      else if (this.#random.chance(0.1)) await this.#deleteSome();
    }
    return { seed: this.#seed, decisions: this.#decisions, differences };
  }

  #pod(name: string, number: number, more: JsonObject): NewPod {
    const labels = {
      app: this.#random.pick(["web", "db", "cache"]),
      ...(this.#random.chance(0.5) && { version: this.#random.pick(["1", "2"]) }),
      ...(this.#random.chance(0.2) && { tier: this.#random.pick(["1", "2"]) }),
    };
    const isPlain = this.#isCrowded && this.#random.chance(0.85);
    const unique = this.#seed * 1000 + number;
    const spec = isPlain ? plainPod(this.#random, unique) : randomPod(this.#random, unique, this.#nodes);
    return { metadata: { name, labels }, spec: { ...spec, ...more } };
  }

  /** Creates a Pod and returns how its outcomes differ. */
  async #create(pod: NewPod, nudges?: number): Promise<string | undefined> {
    this.#ending = new Set(
      this.#twins.flatMap(({ pods }) => pods.all().filter(isEnding)).map(({ metadata }) => metadata.name),
    );
    const [{ status }] = await this.#both(({ client }) => client.call("POST", PODS, pod));
    // Some random Pods are invalid.
    if (status !== 201) return undefined;
    this.#decisions.created += 1;
    if (pod.spec.schedulingGates) await this.#ungate(pod.metadata.name);
    return this.#compare(pod.metadata.name, pod, nudges);
  }

  /** Removes the scheduling gates of a Pod once both schedulers have seen it. */
  async #ungate(name: string): Promise<void> {
    await this.#settle();
    for (const { pods } of this.#twins) if (pods.get(name)?.spec?.nodeName) throw new Error(`${name} has gates`);
    this.#decisions.gated += 1;
    const body = { spec: { schedulingGates: null } };
    await this.#change([{ method: "PATCH", path: `${PODS}/${name}`, body }]);
  }

  async #change(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      const { method, path, body } = change;
      const [theirs, ours] = await this.#both(({ client }) => client.call(method, path, body, headersOf(change)));
      if (theirs.status !== ours.status) throw new Error(`${method} ${path}: ${theirs.status} and ${ours.status}`);
    }
  }

  /** Returns how the outcomes of a Pod differ. `nudges`: how often something may change that could help it. */
  async #compare(name: string, pod: NewPod, nudges = 3): Promise<string | undefined> {
    const outcomes = () => this.#twins.map(({ pods }) => outcomeOf(pods.get(name)));
    const isSame = () => {
      const [theirs, ours] = outcomes();
      const areBound = theirs !== undefined && "node" in theirs && ours !== undefined && "node" in ours;
      return areBound || (theirs !== undefined && JSON.stringify(theirs) === JSON.stringify(ours)) || undefined;
    };
    const areDecided = () => outcomes().every((outcome) => outcome !== undefined) || undefined;
    // Binding volumes takes long on a busy machine.
    await this.#twins[0].pods.until(name, areDecided).catch(() => undefined);
    await this.#twins[0].pods.until(name, isSame, 10_000).catch(() => undefined);
    const [theirs, ours] = outcomes();
    if (theirs === undefined || ours === undefined || !isSame()) return differ(name, theirs, ours);
    if ("node" in theirs && "node" in ours) return this.#bound(name, pod, theirs.node, ours.node);
    return this.#rejected(name, pod, nudges);
  }

  /** Changes something that may or may not make a rejected Pod schedulable. */
  async #nudge(name: string): Promise<void> {
    this.#decisions.nudged += 1;
    const running = this.#twins[0].pods
      .all()
      .flatMap(({ spec, metadata }) => (spec?.nodeName ? [metadata.name ?? ""] : []));
    const fresh = `n${this.#seed}-${this.#nodes.length}`;
    const changes = randomChange(this.#random, name, running.sort(), this.#nodes, fresh);
    if (changes[0]?.path === NODES) this.#nodes.push(fresh);
    await this.#change(changes);
    await this.#settle();
    await this.#settle();
  }

  async #bound(name: string, pod: NewPod, theirs: string, ours: string): Promise<string | undefined> {
    const scores = this.#twins[0].scores.of(`default/${name}`);
    const isTie = scores.size > 1 && scores.get(ours) === Math.max(...scores.values());
    if (theirs !== ours && !isTie) return `${name}: ${theirs} and ${ours}, scores ${JSON.stringify([...scores])}`;
    this.#decisions[theirs === ours ? "bound" : "tied"] += 1;
    this.#isOver = theirs !== ours && ((pod.spec.volumes ?? []) as JsonObject[]).length > 0;
    if (theirs !== ours) {
      const { client, pods } = this.#twins[1];
      await client.call("DELETE", `${PODS}/${name}`, NOW);
      await pods.until(`${name} is gone`, () => pods.get(name) === undefined || undefined);
      await client.call("POST", PODS, { ...pod, spec: { ...pod.spec, schedulingGates: [], nodeName: theirs } });
    }
    await this.#start(name);
    return undefined;
  }

  /** Lets the Pod begin to run, at another time than all others. */
  async #start(name: string): Promise<void> {
    const startTime = new Date(FIRST_START + 1000 * this.#started++).toISOString().replace(".000", "");
    await this.#both(({ client }) => client.call("PATCH", `${PODS}/${name}/status`, { status: { startTime } }, MERGE));
  }

  /** Compares the victims, if there are some, and where the Pod goes when they are gone. */
  async #rejected(name: string, pod: NewPod, nudges: number): Promise<string | undefined> {
    const { message = "" } = outcomeOf(this.#twins[0].pods.get(name)) as Rejected;
    const [, count] = /preempting (\d+) victims/.exec(message) ?? [];
    if (count === undefined) {
      this.#decisions.rejected += 1;
      if (nudges > 0 && this.#random.chance(0.4)) {
        await this.#nudge(name);
        return this.#compare(name, pod, nudges - 1);
      }
      await this.#both(({ client }) => client.call("DELETE", `${PODS}/${name}`, NOW));
      return undefined;
    }
    this.#decisions.preempted += 1;
    const [theirs, ours] = await this.#both(({ pods }) =>
      pods.until(`victims of ${name}`, () => {
        const victims = pods.all().filter((victim) => isEnding(victim) && !this.#ending.has(victim.metadata.name));
        return victims.length >= Number(count) ? victims.map(describeVictim).sort() : undefined;
      }),
    );
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) return differ(name, theirs, ours);
    const found = this.#random.chance(0.4) ? await this.#createRival(name) : undefined;
    if (found) return found;
    await this.#both(async ({ client, pods }) => {
      for (const { metadata } of pods.all().filter(isEnding))
        await client.call("DELETE", `${PODS}/${metadata.name}`, NOW);
    });
    const areBound = () => this.#twins.every(({ pods }) => pods.get(name)?.spec?.nodeName) || undefined;
    await this.#twins[0].pods.until(`${name} follows`, areBound, 15_000).catch(() => undefined);
    // Neither of them may have noticed the end of the victims: kube-scheduler tries such a Pod again after five minutes.
    const [theirOutcome, ourOutcome] = this.#twins.map(({ pods }) => outcomeOf(pods.get(name)));
    const isUnnoticed = !areBound() && JSON.stringify(theirOutcome) === JSON.stringify(ourOutcome);
    if (isUnnoticed) return this.#deleteBoth(name);
    await this.#twins[0].pods.until(`${name} follows`, areBound).catch(() => undefined);
    const [there = "", here = ""] = this.#twins.map(({ pods }) => pods.get(name)?.spec?.nodeName ?? "");
    if (!areBound()) return `after preemption ${differ(name, theirOutcome, ourOutcome)}`;
    return this.#bound(name, pod, there, here);
  }

  /** Creates a Pod beside one that is nominated, whose victims still run. Returns how its outcomes differ. */
  async #createRival(nominated: string): Promise<string | undefined> {
    this.#decisions["besides a nominated Pod"] += 1;
    const name = `${nominated}-rival`;
    const pod = this.#pod(name, 900 + this.#decisions["besides a nominated Pod"], { preemptionPolicy: "Never" });
    const found = await this.#create(pod, 0);
    if (found) return `${found}\n${JSON.stringify(pod)}`;
    return this.#deleteBoth(name);
  }

  async #deleteSome(): Promise<void> {
    const running = this.#twins[0].pods.all().map(({ metadata }) => metadata.name ?? "");
    if (running.length === 0) return;
    await this.#deleteBoth(this.#random.pick(running.sort()));
  }

  async #deleteBoth(name: string): Promise<undefined> {
    await this.#both(async ({ client, pods }) => {
      await client.call("DELETE", `${PODS}/${name}`, NOW);
      await pods.until(`${name} is gone`, () => pods.get(name) === undefined || undefined);
    });
  }

  async #both<T>(act: (cluster: SchedulerCluster) => Promise<T>): Promise<[theirs: T, ours: T]> {
    const [theirs, ours] = this.#twins;
    return Promise.all([act(theirs), act(ours)]);
  }
}

interface NewPod {
  readonly metadata: { readonly name: string; readonly labels: JsonObject };
  readonly spec: JsonObject;
}

interface Rejected {
  readonly message: string;
  readonly reason: string | undefined;
  readonly nominated: string;
}

/** Undefined if the Pod has not been tried yet. */
function outcomeOf(pod: Pod | undefined): { readonly node: string } | Rejected | undefined {
  if (pod?.spec?.nodeName) return { node: pod.spec.nodeName };
  const condition = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (condition?.message === undefined || condition.reason === "SchedulingGated") return undefined;
  return { message: condition.message, reason: condition.reason, nominated: pod?.status?.nominatedNodeName ?? "" };
}

const isEnding = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

function describeVictim({ metadata, status }: Pod): string {
  const condition = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return `${metadata.name} ${condition?.status} ${condition?.reason} ${condition?.message}`;
}

function differ(name: string, theirs: unknown, ours: unknown): string {
  return `${name}\n  theirs ${JSON.stringify(theirs)}\n  ours   ${JSON.stringify(ours)}`;
}
